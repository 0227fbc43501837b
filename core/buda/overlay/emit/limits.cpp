// SPDX-License-Identifier: Apache-2.0
// What the streams of a core use, against what it has.
#include <buda/overlay/emit/limits.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/overlay/l1/l1_map.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace buda::overlay {
namespace {

struct CoreCounts {
  std::int64_t dram_inputs = 0, dram_outputs = 0;
  std::map<std::int32_t, std::int64_t> fan_out;  // by stream of an output
  std::vector<Note> phases, reads;
};

Note note_of(const Stream& s, const std::string& amount) {
  return {{}, cat(stream_kind_name(s.kind), " stream ", s.number, ", operand ", s.operand, ": ", amount)};
}

CoreCounts count_uses(const Blob& blob, const Core& core) {
  CoreCounts n;
  for (const Stream& s : core.streams) {
    if (s.phase_count() > 0) n.phases.push_back(note_of(s, cat(s.phase_count())));
    if (s.read && !s.read->before_epoch) {
      ++n.dram_inputs;
      n.reads.push_back(note_of(s, cat(s.read->buffers.size())));
    }
    if (blob.sender_over_pcie(s) != nullptr) {
      ++n.dram_inputs;
      n.reads.push_back(note_of(s, "over PCIe"));
    }
    if ((s.write && !s.write->after_epoch) || s.pcie) ++n.dram_outputs;
    if (s.kind == StreamKind::output || s.kind == StreamKind::fork) ++n.fan_out[s.fork_of >= 0 ? s.fork_of : s.number];
  }
  return n;
}

void check_core(const Blob& blob, const Core& core, const device::StreamLimits& limits, std::int32_t streams, Violations& violations) {
  CoreCounts n = count_uses(blob, core);
  auto check = [&](const char* code, const char* resource, std::int64_t needed, std::int64_t available, std::string what, std::string hint,
                   std::vector<Note> notes = {}) {
    if (needed <= available) return;
    auto count = [](std::int64_t v) { return static_cast<std::uint64_t>(std::max<std::int64_t>(v, 0)); };
    violations.shortage(core, {code, resource, count(needed), count(available), std::move(what), std::move(hint), std::move(notes)});
  };
  const std::int64_t phases = core.phases();
  check("OV011", "phases", phases, core.blob_bytes / std::max(limits.bytes_per_phase, 1),
        cat("this is the capacity of a stream program of ", core.blob_bytes, " bytes"),
        cat("set overlay_size: ", align_up(phases * limits.bytes_per_phase, kProgramStep), " for op '", core.op, "' in the netlist"),
        std::move(n.phases));
  check("OV012", "streams", static_cast<std::int64_t>(core.streams.size()), streams, "for inputs, outputs and pipes", "");
  check("OV016", "DRAM input streams", n.dram_inputs, limits.dram_input_per_core, "for inputs that come from queues, or over PCIe",
        cat("feed some inputs of '", core.op, "' through a nop"), std::move(n.reads));
  check("OV016", "DRAM output streams", n.dram_outputs, limits.dram_output_per_core,
        "for queues that are written, and what leaves over PCIe", cat("let a nop write some results of '", core.op, "'"));
  for (const auto& [number, fan_out] : n.fan_out)
    check("OV017", "pipes fed by one core", fan_out, limits.max_fan_out, cat("from the output of stream ", number),
          cat("put a nop between '", core.op, "' and some of its readers, or choose blockings with which fewer cores read from each core"));
}

// Whether the ids of a stream's phases increase, in the order in which the core executes them.
bool is_ordered(const Stream& stream) {
  std::int64_t before = -1;
  for (const PhaseRun& run : stream.phases) {
    const std::int64_t first = to_phase(run.first).id, last = to_phase(run.at(run.count - 1)).id;
    if (first <= before || (run.count > 1 && last <= first)) return false;
    before = last;
  }
  return true;
}

void check_order(const Core& core, Violations& violations) {
  for (const Stream& s : core.streams)
    if (!is_ordered(s))
      violations.error("OV002", nullptr, nullptr,
                       cat("op '", core.op, "', core [", core.core.row, ", ", core.core.col, "], stream ", s.number,
                           ": several pipes bring tiles to buffer_", s.buffer, " at the same time"));
}

}  // namespace

void check_limits(const Blob& blob, const device::DeviceDescriptor& device, const device::EthCore& eth_core, Violations& violations) {
  for (const Core& core : blob.cores) {
    check_core(blob, core, device.streams, core.ethernet ? eth_core.streams : device.streams.per_core, violations);
    check_order(core, violations);
  }
}

}  // namespace buda::overlay
