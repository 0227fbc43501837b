// SPDX-License-Identifier: Apache-2.0
// Loading, waiting, and what there is to say about cores that wait for ever.
#include <buda/chip/epoch.hpp>

#include <buda/base/text.hpp>
#include <buda/movers/encode.hpp>

#include <kernels/arguments.h>
#include <movers/tables.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace buda::chip {
namespace {

using overlay::Blob;

constexpr std::uint32_t kReset = 0xffb121b0u;
// Bits of the five processors of a core: all, and all but BRISC, which ends the reset of the others.
constexpr std::uint32_t kAll = 0x47800, kAllButBrisc = 0x47000;
constexpr std::size_t kMaxCoresTold = 12;

std::string bytes_of_word(std::uint32_t word) { return std::string(reinterpret_cast<const char*>(&word), sizeof word); }

template <class Record>
Result<Record> read_record(Bus& bus, device::NocCoord node, std::uint64_t address) {
  Record out{};
  BUDA_TRY(bus.read(node, address, reinterpret_cast<char*>(&out), sizeof out));
  return out;
}

}  // namespace

Result<void> ChipCores::reset(const Blob& blob, std::uint32_t bits) {
  for (const overlay::Core& core : blob.cores) BUDA_TRY(bus_.write(core.noc, kReset, bytes_of_word(bits)));
  return success();
}

Result<void> ChipCores::run(EpochRequest request) {
  const Blob& blob = request.blob;
  for (std::size_t c = 0; c < blob.cores.size(); ++c) {
    const auto op = request.ops.find(blob.cores[c].op);
    if (op == request.ops.end()) continue;
    const kernels::OpLayout& layout = op->second->layout;
    if (layout.row_messages > 0)
      request.execution.kernel_rows[c] = {layout.output.ring.tile_bytes, layout.output.tiles / layout.row_messages};
    const auto& inputs = layout.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      request.execution.kernel_inputs[{c, static_cast<std::int32_t>(i)}] = {inputs[i].tiles * request.execution.inputs, inputs[i].at_once};
  }
  request.execution.l1_end = device_.l1.operands_end();
  BUDA_ASSIGN(const movers::Tables tables, movers::lower(blob, request.execution));
  // A core must not get tiles or flags for an epoch that it does not have yet: all are loaded before the first one goes.
  BUDA_TRY(reset(blob, kAll));
  for (std::size_t c = 0; c < blob.cores.size(); ++c) BUDA_TRY(load(request, c, tables.cores[c]));
  BUDA_TRY(reset(blob, kAllButBrisc));
  auto waited = wait(request, tables);
  auto stopped = reset(blob, kAll);
  return waited ? std::move(stopped) : std::move(waited);
}

Result<void> ChipCores::load(const EpochRequest& request, std::size_t c, const movers::CoreTables& tables) {
  const overlay::Core& core = request.blob.cores[c];
  const auto op = request.ops.find(core.op);
  const bool computes = op != request.ops.end();
  BUDA_ASSIGN(const std::string words,
              movers::encode(tables, device_.noc, computes ? movers::Entries(op->second->entries) : movers::Entries()));
  BUDA_TRY(bus_.write(core.noc, mover::kTables, words));
  if (computes) {
    for (const auto& [address, bytes] : op->second->programs) BUDA_TRY(bus_.write(core.noc, address, bytes));
    BUDA_ASSIGN(const Parts parts, arguments_of(*request.names.at(core.op), *op->second, core, tables, mover::kTables + words.size(),
                                                request.execution.inputs, device_.l1));
    for (const auto& [address, bytes] : parts) BUDA_TRY(bus_.write(core.noc, address, bytes));
  }
  BUDA_TRY(bus_.write(core.noc, mover::kBrisc, firmware_[0]));
  return bus_.write(core.noc, mover::kNcrisc, firmware_[1]);
}

Result<bool> ChipCores::has_ended(const EpochRequest& request, std::size_t c) {
  const overlay::Core& core = request.blob.cores[c];
  BUDA_ASSIGN(const auto header, read_record<mover::MoverHeader>(bus_, core.noc, mover::kTables));
  if (header.in_done == 0 || header.out_done == 0) return false;
  if (header.computes == 0) return true;
  using Done = std::array<std::uint32_t, 3>;
  BUDA_ASSIGN(const Done done, read_record<Done>(bus_, core.noc, tt::kArgumentsAddress));
  return std::all_of(done.begin(), done.end(), [&](std::uint32_t n) { return n >= request.execution.inputs; });
}

// A number that changes as long as tiles move or kernels come to an end of an input.
Result<std::uint64_t> ChipCores::moved(const Blob& blob) {
  std::uint64_t sum = 0;
  for (const overlay::Core& core : blob.cores) {
    BUDA_ASSIGN(const auto header, read_record<mover::MoverHeader>(bus_, core.noc, mover::kTables));
    sum += header.in_tiles + header.out_tiles;
    using Done = std::array<std::uint32_t, 3>;
    BUDA_ASSIGN(const Done done, read_record<Done>(bus_, core.noc, tt::kArgumentsAddress));
    if (header.computes != 0) sum += done[0] + done[1] + done[2];
  }
  return sum;
}

Result<void> ChipCores::wait(const EpochRequest& request, const movers::Tables& tables) {
  std::uint64_t since = cycles_, seen = 0;
  for (std::size_t c = 0; c < request.blob.cores.size();) {
    BUDA_ASSIGN(const bool ended, has_ended(request, c));
    if (ended) {
      ++c;
      continue;
    }
    BUDA_TRY(bus_.step(options_.quantum));
    cycles_ += options_.quantum;
    if (cycles_ - since < options_.patience) continue;
    BUDA_ASSIGN(const std::uint64_t now, moved(request.blob));
    if (now == seen) return hung(request, tables);
    seen = now;
    since = cycles_;
  }
  return success();
}

Result<void> ChipCores::hung(const EpochRequest& request, const movers::Tables& tables) {
  Diagnostic d =
      input_error("CP003", {}, cat("epoch ", request.number, " waits for ever: in ", options_.patience, " cycles no tile has moved"));
  std::size_t waiting = 0;
  for (std::size_t c = 0; c < request.blob.cores.size(); ++c) {
    BUDA_ASSIGN(const bool ended, has_ended(request, c));
    if (ended || ++waiting > kMaxCoresTold) continue;
    BUDA_ASSIGN(std::string state, state_of(request, c, tables.cores[c]));
    d.notes.push_back({{}, std::move(state)});
    if (d.node.empty()) d.node = request.blob.cores[c].op;
  }
  if (waiting > kMaxCoresTold) d.notes.push_back({{}, cat("and ", waiting - kMaxCoresTold, " cores more")});
  return d;
}

Result<std::string> ChipCores::state_of(const EpochRequest& request, std::size_t c, const movers::CoreTables& tables) {
  const overlay::Core& core = request.blob.cores[c];
  BUDA_ASSIGN(const auto header, read_record<mover::MoverHeader>(bus_, core.noc, mover::kTables));
  std::string text = core.op.empty() ? cat("core ", core.core.row, '-', core.core.col)
                                     : cat("op '", core.op, "', core ", core.core.row, '-', core.core.col);
  text += ": ";
  for (std::size_t i = 0; i < tables.rings.size(); ++i) {
    BUDA_ASSIGN(const auto ring, read_record<mover::RingRecord>(bus_, core.noc, header.rings + i * sizeof(mover::RingRecord)));
    const overlay::Stream& s = *core.find(tables.rings[i].stream);
    const std::string name = s.kind == overlay::StreamKind::input    ? cat("input ", s.operand)
                             : s.kind == overlay::StreamKind::output ? std::string("the output")
                                                                     : cat("stream ", s.number);
    text += cat(i == 0 ? "" : "; ", name, ": of ", s.messages(), " tiles ", ring.arrived, " have come, ", ring.freed, " have left");
  }
  if (header.computes != 0) {
    using Done = std::array<std::uint32_t, 3>;
    BUDA_ASSIGN(const Done done, read_record<Done>(bus_, core.noc, tt::kArgumentsAddress));
    text +=
        cat("; unpack, math and pack have done ", done[0], ", ", done[1], " and ", done[2], " of ", request.execution.inputs, " inputs");
  }
  return text;
}

}  // namespace buda::chip
