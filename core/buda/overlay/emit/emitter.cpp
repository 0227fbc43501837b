// SPDX-License-Identifier: Apache-2.0
// The blob, core by core.
#include <buda/overlay/emit/emitter.hpp>

#include <cstddef>
#include <utility>

namespace buda::overlay {
namespace {

Stream complete_stream(Stream s, StreamPhases phases, const StreamBuffer& buffer) {
  s.phases = std::move(phases.phases);
  s.iterations = phases.iterations;
  s.window_tiles = phases.window_tiles;
  s.ids_per_pass = phases.ids_per_pass;
  s.passes = phases.passes;
  s.address = buffer.address;
  s.bytes = buffer.bytes;
  if (s.read) s.read->chunk_tiles = buffer.read_chunk_tiles;
  if (s.write) s.write->chunk_tiles = buffer.write_chunk_tiles;
  if (s.pcie) {
    s.pcie->chunk_tiles = buffer.write_chunk_tiles;
    s.pcie->address = buffer.pcie_address;
  }
  return s;
}

}  // namespace

Blob emit_blob(const EpochInput& in, const CoreMap& cores, StreamAllocation streams, PhaseSchedule phases, L1Layout layout) {
  Blob blob;
  blob.arch = in.device.arch;
  blob.device = in.device.name;
  blob.graphs = in.graph.graphs;
  blob.dram = std::move(streams.dram);
  blob.cores = cores.cores();
  for (std::size_t i = 0; i < blob.cores.size(); ++i) {
    Core& core = blob.cores[i];
    core.blob_bytes = layout.cores[i].program_bytes;
    core.headers = std::move(layout.cores[i].headers);
    for (auto& [number, s] : streams.streams.of_core(i))
      core.streams.push_back(complete_stream(std::move(s), std::move(phases.of_core(i).at(number)), layout.streams.of_core(i).at(number)));
  }
  return blob;
}

}  // namespace buda::overlay
