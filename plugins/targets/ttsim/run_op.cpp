// Cores one after the other: a process that starts others has no other threads.
#include "run_op.hpp"

#include "child.hpp"
#include "library.hpp"
#include "vendor_core.hpp"

#include <buda/base/text.hpp>

namespace buda::ttsim {

arith::Outcome run_op(const std::string& path, const kernels::KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call) {
  arith::OpCall alone = call;
  alone.threads = 1;
  return kernels::run_op(kernels, l1, alone, [&](const kernels::CoreWork& work, GridCoord) {
    return in_child([&]() -> Made {
      auto loaded = Library::load(path);
      if (auto* why = std::get_if<std::string>(&loaded)) return cat("library '", path, "': ", *why);
      VendorCore core(std::get<Library>(loaded));
      return kernels::run_on(work, core);
    });
  });
}

}  // namespace buda::ttsim
