// SPDX-License-Identifier: Apache-2.0
// Cores one after the other: a process that starts others has no other threads.
#include "run_op.hpp"

#include "child.hpp"
#include "library.hpp"
#include "vendor_core.hpp"

#include <buda/base/text.hpp>

#include <utility>

namespace buda::ttsim {

arith::Outcome run_op(const std::string& path, const kernels::KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call,
                      const std::function<void(std::string)>& dest) {
  arith::OpCall alone = call;
  alone.threads = 1;
  return kernels::run_op(kernels, l1, alone, [&](const kernels::CoreWork& work, GridCoord) {
    Made made = in_child([&]() -> Made {
      auto loaded = Library::load(path);
      if (auto* why = std::get_if<std::string>(&loaded)) return {cat("library '", path, "': ", *why), {}, {}};
      VendorCore core(std::get<Library>(loaded));
      kernels::CoreFailure failure = kernels::run_on(work, core);
      return {std::move(failure), kernels::tiles_made(work), dest ? core.destination() : std::string()};
    });
    if (dest) dest(std::move(made.destination));
    if (!made.failure) kernels::put_tiles_made(work, made.tiles);
    return std::move(made.failure);
  });
}

}  // namespace buda::ttsim
