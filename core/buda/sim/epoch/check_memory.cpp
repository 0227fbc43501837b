// SPDX-License-Identifier: Apache-2.0
// Whether a stream program uses memory as it may: each buffer for itself, phases within their buffers, queues where they are.
#include <buda/base/text.hpp>
#include <buda/sim/epoch/building.hpp>

#include <algorithm>

namespace buda::sim {
namespace {

using overlay::Core;
using overlay::DramBuffer;
using overlay::Stream;

// Streams that begin at the same address share a buffer on purpose: kernels that add up in their output, relays of Ethernet ops.
void check_overlap(const Core& core, const std::string& where, Failure& failure) {
  std::vector<const Stream*> buffers;
  for (const Stream& s : core.streams)
    if (s.fork_of < 0 && s.bytes > 0) buffers.push_back(&s);
  std::sort(buffers.begin(), buffers.end(), [](const Stream* a, const Stream* b) { return a->address < b->address; });
  for (std::size_t i = 0; i + 1 < buffers.size(); ++i) {
    const Stream &a = *buffers[i], &b = *buffers[i + 1];
    if (a.address == b.address || a.address + a.bytes <= b.address) continue;
    Diagnostic d =
        input_error("SM008", {},
                    cat("on ", where, " the buffer of stream ", a.number, " ends at ", hex_text(a.address + a.bytes),
                        ", and that of stream ", b.number, " begins at ", hex_text(b.address), ": what one receives overwrites the other"));
    d.node = core.op;
    failure.add(std::move(d));
  }
}

// What a kernel hands out lies at the offsets of the phases; a window counts from the first of a pass.
void check_phases(const Core& core, const Stream& s, const std::string& where, Failure& failure) {
  if (!s.scattered || s.message_bytes == 0 || s.read || s.fork_of >= 0 || s.window_tiles <= 0) return;
  const auto capacity = static_cast<std::int64_t>(s.bytes) / s.message_bytes;
  for (const overlay::PhaseRun& run : s.phases)
    for (const std::int64_t at : {std::int64_t{0}, run.count - 1}) {
      const overlay::Phase phase = overlay::to_phase(run.at(at));
      if (phase.offset >= 0 && phase.offset % s.window_tiles + phase.messages <= s.window_tiles && s.window_tiles <= capacity) continue;
      Diagnostic d =
          input_error("SM007", {},
                      cat("on ", where, " phase ", phase.id, " of stream ", s.number, " sends ", phase.messages, " tiles from tile ",
                          phase.offset, " of its buffer on, which has ", capacity, " tiles in windows of ", s.window_tiles));
      d.node = core.op;
      failure.add(std::move(d));
      return;
    }
}

// A multicast writes to one address in all cores.
void check_multicasts(const overlay::Blob& blob, const Stream& s, const std::string& where, Failure& failure) {
  for (const overlay::Destination& to : s.destinations) {
    const Stream* first = blob.find(to.first);
    if (!to.is_multicast() || first == nullptr) continue;
    for (std::int32_t c : blob.cores_of(to)) {
      const Stream* receiver = blob.find({c, to.first.stream});
      if (receiver == nullptr || receiver->address == first->address) continue;
      const Core& core = blob.cores[static_cast<std::size_t>(c)];
      Diagnostic d =
          input_error("SM010", {},
                      cat("stream ", s.number, " on ", where, " multicasts to ", hex_text(first->address), ", and core [", core.core.row,
                          ", ", core.core.col, "] has the buffer of stream ", receiver->number, " at ", hex_text(receiver->address)));
      d.node = core.op;
      failure.add(std::move(d));
      return;
    }
  }
}

// Queues of the chip's own memory; others are reached at addresses of their own.
void check_queue(const Building& b, std::size_t number, Failure& failure) {
  const DramBuffer& buffer = b.blob().dram[number];
  const std::size_t q = b.m.queues[number].queue;
  const auto& queues = b.setup.index.netlist().queues;
  if (buffer.padding || buffer.host || q >= queues.size()) return;
  const netlist::Queue& queue = queues[q];
  if (queue.location != netlist::QueueLocation::dram || buffer.chip != queue.target_device) return;
  const bool found = std::any_of(queue.buffers.begin(), queue.buffers.end(), [&](const netlist::BufferAddress& a) {
    return a.channel == buffer.channel && a.address == buffer.address;
  });
  if (found) return;
  Diagnostic d = input_error("SM009", {},
                             cat("the stream program has a buffer of queue '", queue.name, "' at ", hex_text(buffer.address),
                                 " in DRAM channel ", buffer.channel, ", where the netlist has none"));
  d.node = queue.name;
  failure.add(std::move(d));
}

}  // namespace

Result<void> check_memory(const Building& b) {
  Failure failure;
  for (std::uint32_t c = 0; c < b.blob().cores.size(); ++c) {
    const Core& core = b.blob().cores[c];
    const std::string where = name_of_core(b.m, c);
    check_overlap(core, where, failure);
    for (const Stream& s : core.streams) {
      check_phases(core, s, where, failure);
      check_multicasts(b.blob(), s, where, failure);
    }
  }
  for (std::size_t d = 0; d < b.blob().dram.size(); ++d) check_queue(b, d, failure);
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::sim
