// SPDX-License-Identifier: Apache-2.0
// Phases in the order and with the keys of TT-Buda's blob files. Internal to the module.
#pragma once

#include <buda/overlay/blob/yaml_entry.hpp>
#include <buda/overlay/blob/yaml_source.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace buda::overlay {

// A phase of a stream, with what the one after it changes.
struct YamlPhase {
  std::int64_t id = 0;
  std::int32_t core = 0;
  const Stream* stream = nullptr;
  Phase phase;
  bool last = false, source_changes = false, destination_changes = false;
  bool continues_pass = false;  // that the phase before it began

  // The pass of an iteration to which a scattered output's phase belongs.
  std::int64_t pass() const { return stream->ids_per_pass > 0 ? id / stream->ids_per_pass : 0; }
};

// All phases of a blob by id; of equal ids, by core and stream.
std::vector<YamlPhase> ordered_phases(const YamlSource& y);

// Whether a stream sends in one phase only. It has no next phase that would tell its receivers that it is complete, so blobgen appends an
// empty one at both ends.
bool sends_once(const YamlSource& y, const Core& core, const Stream& s);

// What the keys of a phase need to know of other streams.
struct YamlPhaseIndex {
  std::map<pipes::Id, std::int32_t> sharers;                                 // by buffer: the operand that shares its space
  std::set<std::tuple<std::int32_t, std::int32_t, std::int64_t>> sent_once;  // core, stream and phase that receive all of sends_once()
  std::set<StreamRef> row_numbers;                                           // streams whose tiles the firmware takes: rows of a table
};
YamlPhaseIndex index_phases(const YamlSource& y);

// Where tiles come from, and where they go.
void add_source_keys(const YamlSource& y, const YamlPhaseIndex& index, const YamlPhase& p, YamlEntry& e);
void add_destination_keys(const YamlSource& y, const YamlPhase& p, YamlEntry& e);
// Reads and writes of queues, and of links over PCIe.
void add_queue_keys(const YamlSource& y, const YamlPhaseIndex& index, const YamlPhase& p, YamlEntry& e);
// What kernels and the firmware have to know.
void add_kernel_keys(const YamlSource& y, const YamlPhaseIndex& index, const Core& core, const Stream& s, YamlEntry& e);

}  // namespace buda::overlay
