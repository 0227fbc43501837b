// SPDX-License-Identifier: Apache-2.0
// What an executable must be, so that a core can run it.
#pragma once

#include <buda/diag/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace buda::kernels {

// It is in the thread's region, to which the linker is bound: an internal error where it is not.
Result<void> check_executable(std::string_view bytes, std::size_t thread, const std::string& file);

}  // namespace buda::kernels
