// Feeding and collecting.
#include "op_runner.hpp"

#include "core.hpp"
#include "op_layout.hpp"

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/elf.hpp>
#include <buda/tensor/tile_layout.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace buda::tensix {
namespace {

using arith::OpCall;
using arith::Value;
using netlist::TileIndex;

// Turns in which nothing happens, after which a core waits for ever: a processor that computes without instructions of the coprocessor or
// stores to registers does so for as many times 2000 instructions.
constexpr int kQuietTurns = 200;

std::size_t first_number(const Value& value, TileIndex tile) {
  const auto t = static_cast<std::size_t>(tile.t), r = static_cast<std::size_t>(tile.r), c = static_cast<std::size_t>(tile.c);
  return t * value.matrix() + r * static_cast<std::size_t>(value.dim.rows) * value.cols() + c * static_cast<std::size_t>(value.dim.cols);
}

// A stream of tiles of one operand, into or out of a ring of a core.
struct Stream {
  const OperandLayout& layout;
  std::int64_t moved = 0;

  char* slot(Core& core) const {
    const std::uint32_t number = static_cast<std::uint32_t>(moved % layout.ring.tiles);
    return reinterpret_cast<char*>(core.l1().data()) + layout.ring.address + number * layout.ring.tile_bytes;
  }
  bool done() const { return moved == layout.tiles; }
};

class CoreRun {
 public:
  CoreRun(const OpCall& call, const OpLayout& layout, GridCoord place, Core& core, Value& out)
      : call_(call), layout_(layout), place_(place), core_(core), out_(out), output_{layout.output} {
    for (const OperandLayout& input : layout.inputs) inputs_.push_back({input});
  }

  // What went wrong, a sentence without a full stop.
  std::optional<std::string> run(const std::array<kernels::Executable, kThreads>& programs) {
    load(programs);
    int quiet = 0;
    while (!ended()) {
      bool moved = feed();
      const Core::Progress progress = core_.advance();
      if (progress.fault) return cat("core ", place(), ", thread ", core_.where(core_.fault_thread()), ": ", core_.fault());
      moved = collect() || moved;
      quiet = moved || progress.instructions > 0 || progress.words > 0 ? 0 : quiet + 1;
      if (quiet > kQuietTurns) return stuck();
    }
    return std::nullopt;
  }

 private:
  std::string place() const { return cat(place_.row, '-', place_.col); }

  void load(const std::array<kernels::Executable, kThreads>& programs) {
    std::array<std::uint32_t, kThreads> entries;
    for (std::size_t t = 0; t < kThreads; ++t) {
      for (const kernels::Segment& s : programs[t].segments) {
        std::copy(s.bytes.begin(), s.bytes.end(), core_.l1().begin() + s.address);
        std::fill_n(core_.l1().begin() + s.address + static_cast<std::ptrdiff_t>(s.bytes.size()), s.memory_bytes - s.bytes.size(),
                    std::uint8_t{0});
      }
      entries[t] = programs[t].entry;
    }
    std::memcpy(core_.l1().data() + tt::kArgumentsAddress, &layout_.arguments, sizeof layout_.arguments);
    core_.reset(entries);
  }

  bool ended() {
    if (!output_.done()) return false;
    for (std::size_t t = 0; t < kThreads; ++t)
      if (core_.word(tt::kArgumentsAddress + 4 * static_cast<std::uint32_t>(t)) == 0) return false;
    return true;
  }

  bool feed() {
    bool moved = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Stream& s = inputs_[i];
      const Value& value = *call_.inputs[i];
      const std::uint32_t stream = s.layout.ring.stream;
      while (!s.done() && ((core_.stream(stream, Core::kArrived) - core_.stream(stream, Core::kTaken)) & 0xffff) < s.layout.ring.tiles) {
        const float* from = value.floats.data() + first_number(value, s.layout.tile(place_, s.moved));
        pack_tile({value.format, value.dim}, from, value.cols(), s.slot(core_));
        ++s.moved;
        core_.stream(stream, Core::kArrived) = static_cast<std::uint32_t>(s.moved & 0xffff);
        moved = true;
      }
    }
    return moved;
  }

  bool collect() {
    bool moved = false;
    const std::uint32_t stream = output_.layout.ring.stream;
    while (!output_.done() && ((core_.stream(stream, Core::kArrived) - static_cast<std::uint32_t>(output_.moved)) & 0xffff) != 0) {
      float* to = out_.floats.data() + first_number(out_, output_.layout.tile(place_, output_.moved));
      unpack_tile({out_.format, out_.dim}, output_.slot(core_), to, out_.cols());
      ++output_.moved;
      core_.stream(stream, Core::kTaken) = static_cast<std::uint32_t>(output_.moved & 0xffff);
      moved = true;
    }
    return moved;
  }

  std::string stuck() {
    std::string text = cat("core ", place(), " waits for ever, with ", output_.moved, " of ", output_.layout.tiles, " tiles made: ");
    for (std::size_t t = 0; t < kThreads; ++t) text += cat(t == 0 ? "" : "; ", core_.where(t));
    return text;
  }

  const OpCall& call_;
  const OpLayout& layout_;
  GridCoord place_;
  Core& core_;
  Value& out_;
  std::vector<Stream> inputs_;
  Stream output_;
};

std::optional<std::string> unable(const OpCall& call) {
  if (call.previous) return "sums over inputs are not executed on cores yet";
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i]->integer()) return cat("input ", i, " holds integers");
    if (call.inputs[i]->dim != TileDim{})
      return cat("input ", i, " has tiles of ", call.inputs[i]->dim.rows, 'x', call.inputs[i]->dim.cols);
  }
  return std::nullopt;
}

}  // namespace

arith::Outcome OpRunner::run(const OpCall& call) {
  const auto found = kernels_.kernel_of_op.find(call.op.name);
  if (found == kernels_.kernel_of_op.end()) return std::string("it has no kernel");
  const kernels::CompiledKernel& kernel = kernels_.kernels[found->second];
  if (auto why = unable(call)) return *why;
  auto layout = layout_of(call, static_cast<std::uint32_t>(l1_.operands_begin), static_cast<std::uint32_t>(l1_.size - l1_.reserved_end));
  if (auto* why = std::get_if<std::string>(&layout)) return std::move(*why);
  std::array<kernels::Executable, kThreads> programs;
  for (std::size_t t = 0; t < kThreads; ++t) {
    auto program = kernels::parse_executable(kernel.executables[t].view(), cat(kernel.id, '/', kThreadNames[t], ".elf"));
    if (!program) return program.failure().diagnostics().front().message;
    for (const kernels::Segment& s : program->segments)
      if (s.address >= l1_.size || s.memory_bytes > l1_.size - s.address)
        return cat("the program of its ", kThreadNames[t], " thread is not in L1");
    programs[t] = std::move(*program);
  }
  Value out(call.op.shape(), call.op.tile_dim, call.op.out_format);
  const GridShape grid = call.op.grid;
  std::vector<std::optional<std::string>> errors(static_cast<std::size_t>(grid.volume()));
  parallel_for(call.threads, errors.size(), [&](std::size_t i) {
    const auto n = static_cast<std::int32_t>(i);
    Core core(static_cast<std::size_t>(l1_.size));
    errors[i] = CoreRun(call, std::get<OpLayout>(layout), {n / grid.cols, n % grid.cols}, core, out).run(programs);
    const Core::Counts executed = core.counts();
    counts_.riscv += executed.riscv;
    counts_.coprocessor += executed.coprocessor;
    ++counts_.cores;
  });
  for (auto& error : errors)
    if (error) return std::move(*error);
  return out;
}

}  // namespace buda::tensix
