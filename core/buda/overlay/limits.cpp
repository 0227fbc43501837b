// What one core has, against what its streams take.
#include <buda/overlay/builder.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

constexpr std::int64_t kStep = 4096;

std::uint64_t count(std::int64_t v) { return static_cast<std::uint64_t>(std::max<std::int64_t>(v, 0)); }

}  // namespace

void Builder::misfit(std::string code, const Core& core, std::string resource, std::uint64_t needed, std::uint64_t available,
                     std::string what, std::string hint, std::vector<Note> notes) {
  constexpr std::size_t kMost = 20;
  if (failure_.diagnostics().size() >= kMost) return;
  bool bytes = resource.ends_with("bytes");
  auto amount = [bytes](std::uint64_t v) { return bytes ? cat(v, " (", bytes_text(v), ')') : cat(v); };
  Diagnostic d = does_not_fit(std::move(code), core.op, resource, needed, available,
                              cat(core.op.empty() ? std::string() : cat("op '", core.op, "', "), place_text(core),
                                  " does not fit: ", resource, ": ", amount(needed), " needed, ", amount(available), " available; ", what),
                              std::move(hint));
  d.data.emplace_back("core", cat('[', core.core.row, ", ", core.core.col, ']'));
  d.notes = std::move(notes);
  failure_.add(std::move(d));
}

void Builder::check_core(const Core& core) {
  const auto& limits = device_.streams;
  std::int64_t inputs = 0, outputs = 0;
  std::vector<Note> phases, reads;
  std::map<std::int32_t, std::int64_t> fan_out;
  for (const Stream& s : core.streams) {
    if (s.phase_count() > 0)
      phases.push_back({{}, cat(stream_kind_name(s.kind), " stream ", s.number, ", operand ", s.operand, ": ", s.phase_count())});
    if (s.read && !s.read->before_epoch) {
      ++inputs;
      reads.push_back({{}, cat(stream_kind_name(s.kind), " stream ", s.number, ", operand ", s.operand, ": ", s.read->buffers.size())});
    }
    if (blob_.sender_over_pcie(s) != nullptr) {
      ++inputs;
      reads.push_back({{}, cat(stream_kind_name(s.kind), " stream ", s.number, ", operand ", s.operand, ": over PCIe")});
    }
    if ((s.write && !s.write->after_epoch) || s.pcie) ++outputs;
    if (s.kind == StreamKind::output || s.kind == StreamKind::fork) ++fan_out[s.fork_of >= 0 ? s.fork_of : s.number];
  }
  auto check = [&](const char* code, const char* resource, std::int64_t needed, std::int64_t available, const std::string& what,
                   const std::string& hint, std::vector<Note> notes = {}) {
    if (needed > available) misfit(code, core, resource, count(needed), count(available), what, hint, std::move(notes));
  };
  std::int64_t room = core.blob_bytes / std::max(limits.bytes_per_phase, 1);
  std::int64_t wanted = align_up(core.phases() * limits.bytes_per_phase, kStep);
  check("OV011", "phases", core.phases(), room, cat("that is what a stream program of ", core.blob_bytes, " bytes holds"),
        cat("set overlay_size: ", wanted, " for op '", core.op, "' in the netlist"), std::move(phases));
  check("OV012", "streams", static_cast<std::int64_t>(core.streams.size()), core.ethernet ? eth_core_.streams : limits.per_core,
        "for inputs, outputs and pipes", "");
  check("OV016", "DRAM input streams", inputs, limits.dram_input_per_core, "for inputs that come from queues, or over PCIe",
        cat("feed some inputs of '", core.op, "' through a nop"), reads);
  check("OV016", "DRAM output streams", outputs, limits.dram_output_per_core, "for queues that are written, and what leaves over PCIe",
        cat("let some of what '", core.op, "' makes be written by a nop"));
  for (const auto& [number, n] : fan_out)
    check("OV017", "pipes fed by one core", n, limits.max_fan_out, cat("from the output of stream ", number),
          cat("put a nop between '", core.op, "' and some of its readers, or choose blockings with which fewer cores take from each core"));
}

void Builder::check_limits() {
  for (const Core& core : blob_.cores) check_core(core);
}

}  // namespace buda::overlay
