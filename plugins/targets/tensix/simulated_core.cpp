// SPDX-License-Identifier: Apache-2.0
// Turns and memory.
#include "simulated_core.hpp"

#include "debug/debugged_op.hpp"
#include "dest_image.hpp"

#include <buda/base/text.hpp>
#include <buda/kernels/lines/source_lines.hpp>
#include <buda/kernels/programs/elf.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace buda::tensix {

void SimulatedCore::write(std::uint32_t address, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(core_.l1().data() + address, bytes.data(), bytes.size());
}

void SimulatedCore::allow(std::uint32_t address, std::uint32_t bytes, Use use) {
  const auto program = static_cast<std::size_t>(use) - static_cast<std::size_t>(Use::unpack_program);
  core_.access.allow(address, bytes,
                     use == Use::tiles    ? L1Access::kTiles
                     : use == Use::shared ? L1Access::kShared
                                          : L1Access::program(program));
}

void SimulatedCore::read(std::uint32_t address, char* to, std::size_t count) { std::memcpy(to, core_.l1().data() + address, count); }

kernels::Core::Turn SimulatedCore::advance() {
  const tensix::Core::Progress progress = core_.advance();
  Turn turn;
  turn.busy = progress.instructions > 0 || progress.words > 0;
  for (std::size_t t = 0; t < kThreads; ++t) turn.late = turn.late || core_.clock(t).processor > most_cycles;
  if (progress.fault) turn.fault = cat("thread ", core_.place(core_.fault_thread()), ": ", core_.fault());
  return turn;
}

Cycle SimulatedCore::cycles() const {
  Cycle last = 0;
  for (std::size_t t = 0; t < kThreads; ++t) last = std::max(last, core_.clock(t).stored);
  return last;
}

std::string SimulatedCore::state(const StreamName& name_of) const {
  std::string text = core_.waits(name_of);
  for (std::size_t t = 0; t < kThreads; ++t) text += cat(t == 0 ? ": " : "; ", core_.where(t));
  return text;
}

namespace {

// What the cores of an op went on after, by their place.
class AllIgnored {
 public:
  void add(GridCoord place, const Checks& checks) {
    const std::lock_guard lock(mutex_);
    by_place_[{place.row, place.col}] = checks.ignored;
  }
  void tell(const std::string& op, const std::function<void(std::string)>& warn) const {
    for (std::size_t i = 0; i < kCheckNames.size(); ++i) {
      std::uint64_t count = 0;
      std::string first;
      for (const auto& [place, ignored] : by_place_) {
        if (count == 0 && ignored[i].count > 0) first = cat("core ", place.first, '-', place.second, ", ", ignored[i].first);
        count += ignored[i].count;
      }
      if (count > 0)
        warn(cat("op '", op, "': ", kCheckNames[i], " was ignored ", count, count == 1 ? " time: " : " times, first: ", first));
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::array<Ignored, kCheckNames.size()>> by_place_;
};

// What the cores of an op hold in the end, by their place.
class DestImages {
 public:
  void add(GridCoord place, const Coprocessor& coprocessor) {
    std::string image = dest_image(coprocessor.dest, coprocessor.dest_forms);
    const std::lock_guard lock(mutex_);
    by_place_[{place.row, place.col}] = std::move(image);
  }
  void tell(const std::function<void(std::string)>& write) {
    for (auto& [place, image] : by_place_) write(std::move(image));
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::string> by_place_;
};

}  // namespace

arith::Outcome run_op(const kernels::KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call, Counts& counts,
                      const RunOptions& options) {
  const auto found = kernels.kernel_of_op.find(call.op.name);
  const Places places = [&](std::size_t thread, std::uint32_t address) {
    if (found == kernels.kernel_of_op.end()) return std::string();
    return kernels::lines_at(kernels.kernels[found->second].executables[thread].view(), address);
  };
  const kernels::Print print = [&](GridCoord place, const kernels::PrintedLine& line) {
    const GridCoord at = call.op.grid_transpose ? GridCoord{place.col, place.row} : place;
    if (options.print)
      options.print(cat(options.chip_of ? options.chip_of(call.op.name) : 0, ':', call.op.grid_loc.row + at.row, '-',
                        call.op.grid_loc.col + at.col, ":T", line.thread, ": ", line.text));
  };
  AllIgnored ignored;
  DestImages images;
  DebuggedOp debugged(options, call.op);
  if (found != kernels.kernel_of_op.end()) debugged.read_lines(kernels.kernels[found->second]);
  auto outcome = kernels::run_op(
      kernels, l1, call,
      [&](const kernels::CoreWork& work, GridCoord place) {
        SimulatedCore core(static_cast<std::size_t>(l1.size), places);
        core.checks().on = options.checks;
        core.most_cycles = options.most_cycles;
        const auto debugger = debugged.look_at(core.core(), place);
        auto failure = kernels::run_on(work, core);
        const tensix::Core::Counts executed = core.counts();
        counts.riscv += executed.riscv;
        counts.coprocessor += executed.coprocessor;
        ++counts.cores;
        if (!options.checks) ignored.add(place, core.checks());
        if (options.dest) images.add(place, core.core().coprocessor());
        if (debugger) debugged.add(place, *debugger, core.core(), failure.has_value());
        return failure;
      },
      print);
  if (options.warn) ignored.tell(call.op.name, options.warn);
  debugged.tell();
  if (options.dest) images.tell(options.dest);
  return outcome;
}

}  // namespace buda::tensix
