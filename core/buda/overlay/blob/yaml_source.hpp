// SPDX-License-Identifier: Apache-2.0
// What the parts of a blob file in TT-Buda's form have in common: the blob, and what its streams mean to the firmware. Internal to the
// module.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/blob/blob_yaml_rows.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace buda::overlay {

// Refers to what it is made from.
struct YamlSource {
  YamlSource(const Blob& b, const pipes::PipeGraph& g, const device::DeviceDescriptor& d)
      : blob(b), graph(g), buffers(g.buffers), device(d) {}

  const Blob& blob;
  const pipes::PipeGraph& graph;
  pipes::BufferIndex buffers;
  const device::DeviceDescriptor& device;

  const Core& core(std::int32_t i) const { return blob.cores[static_cast<std::size_t>(i)]; }
  const DramBuffer& dram(std::int32_t i) const { return blob.dram[static_cast<std::size_t>(i)]; }

  std::string name(StreamRef r) const;
  std::uint64_t noc_address(device::NocCoord port, std::uint64_t address) const;
  std::uint64_t noc_address(const DramBuffer& d) const { return noc_address(d.port, d.address); }

  // Whether there is a handshake with a sender or receiver: over PCIe there is none.
  bool receives(const Stream& s) const { return !s.sources.empty() && blob.sender_over_pcie(s) == nullptr; }
  static bool sends(const Stream& s) { return s.sends() && !s.pcie; }
  // What the firmware of an Ethernet core carries over the link, it takes like a kernel's input, and hands out there like an output.
  bool firmware_sends(const Core& core, const Stream& s) const;
  bool firmware_receives(const Core& core, const Stream& s) const { return s.firmware && !firmware_sends(core, s); }

  // What the firmware has to know of a read of rows instead of tiles; nothing for tiles.
  std::optional<RowReading> rows_of(const Stream& s) const;
  bool is_scattered_store(const Stream& s) const;
};

// The kernel's firmware hands these out block by block; other outputs are rings.
inline bool is_scatter_pack(const Stream& s) { return s.scattered && (s.kind == StreamKind::output || s.kind == StreamKind::fork); }

// Whether an iteration ends at another position of the stream's buffer than it began.
bool moves_pointers(const Stream& s);

// The section dram_blob: what streams read and write, in DRAM or over PCIe.
Result<void> write_yaml_dram(const YamlSource& source, io::OutputFile& out);
// The sections phase_…, sorted by id: all parameters of every phase, because the reader takes none over from the phase before. Ids begin at
// `first_id`.
Result<void> write_yaml_phases(const YamlSource& source, std::uint64_t first_id, io::OutputFile& out);

}  // namespace buda::overlay
