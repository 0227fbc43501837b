// SPDX-License-Identifier: Apache-2.0
// Layouts of kernels on the buffers of stream programs.
#include <buda/chip/op_programs.hpp>

#include <buda/base/text.hpp>
#include <buda/kernels/text/turned_inputs.hpp>
#include <buda/movers/space.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <variant>

namespace buda::chip {
namespace {

using netlist::Op;

Diagnostic refused(const netlist::Netlist& netlist, const Op& op, const std::string& why) {
  Diagnostic d = input_error("CP001", op.places.self.line == 0 ? SourceLoc{netlist.file} : netlist.loc(op.places.self),
                             cat("op '", op.name, "': ", why));
  d.node = op.name;
  return d;
}

template <class T>
std::string bytes_of(const T* values, std::size_t count) {
  return std::string(reinterpret_cast<const char*>(values), count * sizeof(T));
}

// Slots that the stream program's buffers have, on any core of the op, and what its other ones leave.
kernels::L1Part part_of(const Op& op, const overlay::Blob& blob, const device::L1Map& l1) {
  kernels::L1Part out{static_cast<std::uint32_t>(l1.operands_begin), 0, std::vector<std::int64_t>(op.inputs.size()), 0};
  std::uint64_t most_others = 0;
  for (const overlay::Core& core : blob.cores) {
    if (core.op != op.name) continue;
    std::uint64_t others = 0;
    for (const overlay::Stream& s : core.streams) {
      if (s.fork_of >= 0 || s.kind == overlay::StreamKind::intermediate) continue;
      const std::int64_t slots = static_cast<std::int64_t>(s.bytes) / std::max(s.message_bytes, 1);
      if (s.kind == overlay::StreamKind::output) {
        if (!op.untilize_output) out.output_slots = std::max(out.output_slots, slots);
      } else if (s.kind == overlay::StreamKind::input && s.operand >= 0 && static_cast<std::size_t>(s.operand) < op.inputs.size()) {
        std::int64_t& input = out.input_slots[static_cast<std::size_t>(s.operand)];
        input = std::max(input, slots);
      } else {
        others += s.bytes;
      }
    }
    most_others = std::max(most_others, others);
  }
  const std::uint64_t end = l1.operands_end();
  out.end = std::max(out.begin, static_cast<std::uint32_t>(end - std::min(most_others, end)));
  return out;
}

}  // namespace

Result<OpPrograms> op_programs(const netlist::Netlist& netlist, const arith::OpPlan& plan, const overlay::Blob& blob,
                               const std::vector<arith::ValuePtr>& inputs, const kernels::KernelSet& kernels, const device::L1Map& l1) {
  const Op& op = *plan.op;
  const auto found = kernels.kernel_of_op.find(op.name);
  if (found == kernels.kernel_of_op.end()) return refused(netlist, op, "it has no kernel");
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].maps.transposes() && !kernels::turns(kernels.kernels[found->second].kernel, op, i))
      return refused(netlist, op,
                     cat("the tiles of input ", i, " are transposed on their way, and its kernel, as it was compiled, does not turn them"));
  // That a gradient has sums is all that counts.
  const arith::ValuePtr sums = op.gradient_op ? std::make_shared<const arith::Value>() : nullptr;
  const arith::OpCall call{*plan.work, inputs, arith::Mode::bits, 1, sums, plan.fused};
  auto layout = kernels::layout_of(call, part_of(op, blob, l1));
  // Slots and other buffers may be most on different cores, so that no core has as little room: then each core shows whether it has
  // (CP002).
  if (std::holds_alternative<std::string>(layout))
    layout =
        kernels::layout_of(call, {static_cast<std::uint32_t>(l1.operands_begin), static_cast<std::uint32_t>(l1.operands_end()), {}, 0});
  if (const auto* why = std::get_if<std::string>(&layout)) return refused(netlist, op, *why);
  OpPrograms out{std::move(std::get<kernels::OpLayout>(layout)), {}, {}};
  const kernels::CompiledKernel& kernel = kernels.kernels[found->second];
  for (std::size_t t = 0; t < out.entries.size(); ++t) {
    BUDA_ASSIGN(const auto program, kernels::parse_executable(kernel.executables[t].view(), kernel.id));
    for (const kernels::Segment& s : program.segments) {
      std::string bytes(s.bytes);
      bytes.resize(s.memory_bytes);
      out.programs.emplace_back(s.address, std::move(bytes));
    }
    out.entries[t] = program.entry;
  }
  return out;
}

Result<Parts> arguments_of(const Op& op, const OpPrograms& programs, const overlay::Core& core, const movers::CoreTables& tables,
                           std::uint64_t tables_end, std::int64_t inputs, const device::L1Map& l1) {
  tt::Arguments a = programs.layout.arguments;
  movers::FreeSpace space(tables_end, l1.operands_end());
  std::size_t placed_rings = 0;
  for (const movers::Ring& ring : tables.rings) {
    space.take(ring.address, ring.bytes());
    if (ring.kernel == movers::Ring::Kernel::none) continue;
    const overlay::Stream& stream = *core.find(ring.stream);
    tt::Ring& to = ring.kernel == movers::Ring::Kernel::makes ? a.output : a.inputs[static_cast<std::size_t>(stream.operand) % tt::kInputs];
    const tt::Ring placed{static_cast<std::uint32_t>(ring.address), static_cast<std::uint32_t>(ring.message_bytes),
                          static_cast<std::uint32_t>(ring.kernel_slots()), static_cast<std::uint32_t>(ring.kernel_stream())};
    if (to.tile_bytes != placed.tile_bytes) {
      Diagnostic d = input_error(
          "CP001", {},
          cat("op '", op.name, "': its kernel has messages of ", to.tile_bytes, " bytes where the stream program has ", placed.tile_bytes));
      d.node = op.name;
      return d;
    }
    to = placed;
    ++placed_rings;
  }
  // Others would have no place.
  if (placed_rings != programs.layout.inputs.size() + 1) {
    Diagnostic d = input_error("CP001", {},
                               cat("op '", op.name, "': the stream program has no buffer for ",
                                   programs.layout.inputs.size() + 1 - placed_rings, " of its inputs and its output, as of a drainer"));
    d.node = op.name;
    return d;
  }
  Parts out;
  const std::uint64_t free = space.bytes();
  std::uint64_t wanted = 0;
  bool fits = true;
  const auto place = [&](std::uint32_t bytes) {
    const auto at = space.place(bytes);
    wanted += bytes;
    fits &= at.has_value();
    return static_cast<std::uint32_t>(at.value_or(0));
  };
  const auto place_ring = [&](tt::Ring& ring) {
    if (ring.tiles > 0) ring.address = place(ring.tiles * ring.tile_bytes);
  };
  place_ring(a.between);
  for (tt::Ring& ring : a.buffers) place_ring(ring);
  if (programs.layout.table_words > 0) {
    a.table = place(programs.layout.table_words * 4);
    if (!programs.layout.table.empty()) out.emplace_back(a.table, bytes_of(programs.layout.table.data(), programs.layout.table.size()));
  }
  if (!fits)
    return does_not_fit("CP002", op.name, "l1", wanted, free,
                        cat("op '", op.name, "': its kernel needs ", wanted, " bytes of L1 in addition to the buffers of its core, and ",
                            free, " are free"),
                        "leave out target.ttsim.chip: op by op, the op has the L1 to itself");
  a.runs = static_cast<std::uint32_t>(inputs);
  out.emplace_back(tt::kArgumentsAddress, bytes_of(&a, 1));
  return out;
}

}  // namespace buda::chip
