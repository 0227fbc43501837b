// Turns and memory.
#include "simulated_core.hpp"

#include <buda/base/text.hpp>
#include <buda/kernels/source_lines.hpp>

#include <algorithm>
#include <cstring>

namespace buda::tensix {

void SimulatedCore::write(std::uint32_t address, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(core_.l1().data() + address, bytes.data(), bytes.size());
}

void SimulatedCore::read(std::uint32_t address, char* to, std::size_t count) { std::memcpy(to, core_.l1().data() + address, count); }

kernels::Core::Turn SimulatedCore::advance() {
  const tensix::Core::Progress progress = core_.advance();
  Turn turn{progress.instructions > 0 || progress.words > 0, std::nullopt};
  if (progress.fault) turn.fault = cat("thread ", core_.place(core_.fault_thread()), ": ", core_.fault());
  return turn;
}

std::string SimulatedCore::state() const {
  std::string text;
  for (std::size_t t = 0; t < kThreads; ++t) text += cat(t == 0 ? "" : "; ", core_.where(t));
  return text;
}

arith::Outcome run_op(const kernels::KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call, Counts& counts) {
  const auto found = kernels.kernel_of_op.find(call.op.name);
  const Places places = [&](std::size_t thread, std::uint32_t address) {
    if (found == kernels.kernel_of_op.end()) return std::string();
    return kernels::lines_at(kernels.kernels[found->second].executables[thread].view(), address);
  };
  return kernels::run_op(kernels, l1, call, [&](const kernels::CoreWork& work, GridCoord) {
    SimulatedCore core(static_cast<std::size_t>(l1.size), places);
    auto outcome = kernels::run_on(work, core);
    const tensix::Core::Counts executed = core.counts();
    counts.riscv += executed.riscv;
    counts.coprocessor += executed.coprocessor;
    ++counts.cores;
    return outcome;
  });
}

}  // namespace buda::tensix
