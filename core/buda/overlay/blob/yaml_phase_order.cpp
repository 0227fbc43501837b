// SPDX-License-Identifier: Apache-2.0
// Sorts phases, and finds what they need to know of other streams.
#include <buda/overlay/blob/yaml_phases.hpp>

#include <algorithm>
#include <cstddef>

namespace buda::overlay {
namespace {

// Streams that forward what one of them has read keep in step with that one.
const Stream* reader_of(const Core& core, const Stream& s) {
  const bool passes_on = s.kind == StreamKind::multicast || s.kind == StreamKind::relay;
  const Stream* owner = passes_on && s.fork_of >= 0 ? core.find(s.fork_of) : &s;
  return owner != nullptr && owner->read ? owner : nullptr;
}

// What is read during the epoch continues from phase to phase, if all iterations are alike.
bool restarts(const YamlSource& y, const Stream& s) {
  const bool kept =
      s.read->before_epoch || (s.kind != StreamKind::input && s.messages() / s.iterations > y.device.streams.max_tiles_per_phase);
  return kept || moves_pointers(s);
}

// Whether a sender's phase begins a phase of its receiver, which needs a handshake.
bool begins_receiving_phase(const YamlSource& y, const Stream& s, const Phase& p) {
  if (!YamlSource::sends(s)) return true;
  const Stream* r = y.blob.find(s.destinations[static_cast<std::size_t>(p.destination)].first);
  if (r == nullptr) return true;
  for (const PhaseRun& run : r->phases) {
    std::int64_t distance = p.id - run.first[0];
    if (distance == 0 || (run.count > 1 && distance > 0 && distance % run.step[0] == 0 && distance / run.step[0] < run.count)) return true;
  }
  return false;
}

}  // namespace

bool sends_once(const YamlSource& y, const Core& core, const Stream& s) {
  return YamlSource::sends(s) && s.phase_count() == 1 && !y.firmware_sends(core, s);
}

std::vector<YamlPhase> ordered_phases(const YamlSource& y) {
  std::vector<YamlPhase> out;
  for (std::size_t c = 0; c < y.blob.cores.size(); ++c)
    for (const Stream& s : y.blob.cores[c].streams) {
      std::size_t first = out.size();
      for_each(s.phases, [&](const PhaseRun::Tuple& t) {
        out.push_back({t[0], static_cast<std::int32_t>(c), &s, to_phase(t), false, false, false, false});
      });
      const Stream* reader = reader_of(y.blob.cores[c], s);
      for (std::size_t i = first; i < out.size(); ++i) {
        out[i].last = i + 1 == out.size();
        out[i].continues_pass = i > first && out[i].pass() == out[i - 1].pass();
        out[i].source_changes = reader != nullptr ? restarts(y, *reader)
                                                  : out[i].last || (y.receives(s) && out[i + 1].id != out[i].id) ||
                                                        (!y.receives(s) && s.kind != StreamKind::input);
        out[i].destination_changes =
            out[i].last || out[i + 1].phase.destination != out[i].phase.destination || begins_receiving_phase(y, s, out[i + 1].phase);
      }
    }
  std::stable_sort(out.begin(), out.end(), [](const YamlPhase& a, const YamlPhase& b) { return a.id < b.id; });
  return out;
}

YamlPhaseIndex index_phases(const YamlSource& y) {
  YamlPhaseIndex out;
  for (const pipes::Buffer& b : y.graph.buffers)
    if (b.buffer_space_shared) out.sharers.emplace(*b.buffer_space_shared, b.operand);
  for (std::size_t c = 0; c < y.blob.cores.size(); ++c)
    for (const Stream& s : y.blob.cores[c].streams) {
      if (s.read && s.read->lookup) out.row_numbers.insert({static_cast<std::int32_t>(c), s.read->lookup->stream});
      if (!sends_once(y, y.blob.cores[c], s)) continue;
      const Destination& d = s.destinations.front();
      for (std::int32_t core : y.blob.cores_of(d)) out.sent_once.emplace(core, d.first.stream, s.phases.front().first[0]);
    }
  return out;
}

}  // namespace buda::overlay
