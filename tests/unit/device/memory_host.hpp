// SPDX-License-Identifier: Apache-2.0
// A host on a file system in memory, for tests of loading.
#pragma once

#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>
#include <buda/io/memory_file_system.hpp>

#include <string>

namespace buda::device {

class MemoryHost {
 public:
  MemoryHost() { host.share_dir = "/share"; }
  void put(const std::string& path, std::string text) { fs.put(path, std::move(text)); }

  io::MemoryFileSystem fs;
  CollectingSink sink;
  Host host{fs, sink};
};

// A small device with everything that is required.
inline constexpr const char* kSmallDevice = R"(schema: buda.device/1
name: small
arch: grayskull
noc: {x: 4, y: 4}
workers: {x: [1, 2], y: [1, 3]}
dram: {bank_bytes: 0x1000, channels: [{ports: [0-0], lowest_usable: 0x100}, {ports: [3-3, 3-0]}]}
l1: {size: 0x1000, operands_begin: 0x200, overlay_blob_default: 0x80, overlay_blob_included: 0x100}
tile_alignment: 32
queue_header_bytes: 32
dest: {tiles_16bit: 8, tiles_32bit: 4}
formats: [Float16_b, Bfp8_b]
streams: {per_core: 64, max_fan_out: 16}
cost: {clock_ghz: 1.5, noc_bytes_per_cycle: 32, dram_channel_gbs: 10,
  transfers: {link_rate: 30, interface_rate: 28, stream_share: 0.5, shared_stream_share: 0.7, network_relief: 1.4, links_of_queues: 2.5},
  kernels: [{op: exp, format: Bfp8_b, math: {tile: 20}, origin: {source: a guess}},
    {op: exp, variant: approx, format: Bfp8_b, math: {tile: 5}, origin: {source: exp.csv, rows: 3, error: {mean: 1, p90: 2}}}]}
)";

}  // namespace buda::device
