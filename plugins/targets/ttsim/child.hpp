// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own: the vendor's library can be used once per process, and ends the process on errors.
#pragma once

#include <buda/kernels/run/op_run.hpp>

#include <functional>
#include <string>

namespace buda::ttsim {

struct Made {
  kernels::CoreFailure failure;
  std::string tiles;        // kernels::tiles_made
  std::string destination;  // register (VendorCore::destination), where it is asked for
};

// What `work` makes in a child process; what went wrong, a sentence without a full stop, where the child ended before. The child's own
// messages go to standard error.
Made in_child(const std::function<Made()>& work);

}  // namespace buda::ttsim
