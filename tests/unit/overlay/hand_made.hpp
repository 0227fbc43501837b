// SPDX-License-Identifier: Apache-2.0
// Buffers and pipes made by hand, and the arguments of the steps from pipes to stream programs.
#pragma once

#include <buda/overlay/plan/epoch_input.hpp>
#include <buda/overlay/violations.hpp>

#include "unit/pipes/built.hpp"

#include <string>
#include <utility>
#include <vector>

namespace buda::overlay {

constexpr pipes::Id id_of(unsigned number) { return pipes::kFirstId + number * pipes::kIdStep; }

// Room for eight tiles of which four are sent at a time.
inline pipes::Buffer made_buffer(unsigned number, pipes::BufferType type, GridCoord core) {
  pipes::Buffer b;
  b.id = id_of(number);
  b.type = type;
  b.op = "op" + std::to_string(number);
  b.operand = type == pipes::BufferType::packer ? pipes::kOutputOperand : 0;
  b.core = core;
  b.size_tiles = 8;
  b.epoch_tiles = 24;
  b.scatter_gather_num_tiles = 4;
  b.tile_size = 2080;
  b.tile_clear_granularity = 1;
  return b;
}

inline pipes::Pipe made_pipe(pipes::Id id, std::vector<pipes::Id> inputs, std::vector<std::vector<pipes::Id>> outputs) {
  pipes::Pipe p;
  p.id = id;
  p.inputs = std::move(inputs);
  p.outputs = std::move(outputs);
  return p;
}

// An epoch's arguments; the graph and the device have to live as long.
struct HandMade {
  explicit HandMade(const pipes::PipeGraph& g) : HandMade(g, pipes::shipped("wormhole_b0"), {}) {}
  HandMade(const pipes::PipeGraph& g, const device::DeviceDescriptor& d, device::Cluster c)
      : graph(g), buffers(g.buffers), device(d), cluster(std::move(c)), violations(d.chips > 1) {}
  EpochInput input() const { return {graph, buffers, device, cluster}; }
  // Takes what was found so far.
  std::string problems() {
    std::string text = pipes::messages(std::move(violations).take());
    violations = Violations(device.chips > 1);
    return text;
  }

  const pipes::PipeGraph& graph;
  pipes::BufferIndex buffers;
  const device::DeviceDescriptor& device;
  device::Cluster cluster;
  Violations violations;
};

}  // namespace buda::overlay
