// SPDX-License-Identifier: Apache-2.0
// Levels: counters; inputs; waits and steps; transfers.
#include <buda/sim/machine/recorder.hpp>

#include <buda/base/text.hpp>
#include <buda/sim/machine/machine.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace buda::sim {
namespace {

using perf::Entity;
using perf::Level;

// Lanes: what unpacks waits for tiles, what packs waits for room.
constexpr std::uint16_t kUnpack = 0, kMath = 1, kPack = 2;

std::uint32_t low32(std::uint64_t value) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffff)); }

Entity core_entity(const overlay::Core& core) {
  Entity out{Entity::Kind::core, cat(core.noc.x, '-', core.noc.y), core.chip, core.core.row, core.core.col, {}};
  if (core.ethernet) out.kind = Entity::Kind::ethernet;
  return out;
}

Entity resource_entity(const std::string& name) {
  Entity out{Entity::Kind::link, name, -1, 0, 0, {}};
  if (name.starts_with("DRAM")) out.kind = Entity::Kind::dram;
  if (name.starts_with("Ethernet")) out.kind = Entity::Kind::ethernet;
  if (name == "host" || name.starts_with("PCIe")) out.kind = Entity::Kind::host;
  return out;
}

}  // namespace

Recorder::Recorder(const Machine& m, EntityTable& entities, Level level)
    : entities_(entities), level_(level), in_(m.blob->cores.size()), out_(in_.size()) {
  for (const KernelState& k : m.kernels) {
    Entity core = core_entity(m.blob->cores[k.core]);
    const perf::EntityId parent = entities_.id(core);
    core.kind = Entity::Kind::op;
    core.name = k.op->name;
    core.parent = parent;
    kernels_.push_back(entities_.id(core));
  }
}

void Recorder::step(const Machine& m, std::uint32_t kernel, Ticks end) {
  if (!records(Level::waits)) return;
  const KernelState& k = m.kernels[kernel];
  record_.events.push_back({{m.now},
                            {end},
                            kernels_[kernel],
                            perf::EventKind::block,
                            kMath,
                            low32(static_cast<std::uint64_t>(k.step % k.plan.steps())),
                            low32(static_cast<std::uint64_t>(k.step / k.plan.steps()))});
}

void Recorder::waited(const Machine& m, std::uint32_t kernel) {
  const KernelState& k = m.kernels[kernel];
  if (!records(Level::waits) || k.wait.what == KernelWait::For::nothing || k.wait.since == m.now) return;
  const bool tiles = k.wait.what == KernelWait::For::tiles;
  record_.events.push_back({{k.wait.since},
                            {m.now},
                            kernels_[kernel],
                            tiles ? perf::EventKind::wait_tiles : perf::EventKind::wait_room,
                            tiles ? kUnpack : kPack,
                            k.wait.operand,
                            low32(static_cast<std::uint64_t>(k.step / k.plan.steps()))});
}

void Recorder::input_done(const Machine& m, std::uint32_t kernel) {
  if (!records(Level::inputs)) return;
  const KernelState& k = m.kernels[kernel];
  record_.events.push_back({{k.input_begin},
                            {m.now},
                            kernels_[kernel],
                            perf::EventKind::input,
                            kMath,
                            low32(static_cast<std::uint64_t>(k.step / k.plan.steps() - 1)),
                            low32(k.busy_time - k.busy_before)});
}

void Recorder::Traffic::add(const Action& action, std::uint64_t more) {
  begin = bytes == 0 ? action.begin : std::min(begin, action.begin);
  end = std::max(end, action.end);
  bytes += more;
}

void Recorder::transfer(const Machine& m, const Action& action, std::uint64_t bytes) {
  if (!records(Level::inputs)) return;
  const StreamState& s = m.streams[action.entity];
  if (action.kind == Action::Kind::read) {
    in_[s.core].add(action, bytes);
  } else {
    out_[s.core].add(action, bytes);
    if (action.kind == Action::Kind::send)
      for (const std::uint32_t to : s.sending.connections[static_cast<std::size_t>(s.phase.now().destination)].receivers)
        in_[m.streams[to].core].add(action, bytes);
  }
  if (!records(Level::chunks)) return;
  const perf::EventKind kind = action.kind == Action::Kind::read    ? perf::EventKind::dram_read
                               : action.kind == Action::Kind::write ? perf::EventKind::dram_write
                                                                    : perf::EventKind::transfer;
  const auto noc = static_cast<std::uint16_t>(std::max(action.kind == Action::Kind::read ? s.program->noc_in : s.program->noc_out, 0));
  record_.events.push_back(
      {{action.begin}, {action.end}, stream(m, action.entity), kind, noc, low32(bytes), resource(m, action.slowest).value()});
}

perf::EntityId Recorder::resource(const Machine& m, ResourceId id) {
  if (resources_.size() <= id) resources_.resize(m.fabric.resources().size());
  if (!resources_[id].valid()) resources_[id] = entities_.id(resource_entity(m.fabric.resources()[id].name));
  return resources_[id];
}

perf::EntityId Recorder::stream(const Machine& m, std::uint32_t id) {
  if (streams_.size() <= id) streams_.resize(m.streams.size());
  if (streams_[id].valid()) return streams_[id];
  const StreamState& s = m.streams[id];
  Entity core = core_entity(m.core_of(s));
  const perf::EntityId parent = entities_.id(core);
  core.kind = Entity::Kind::stream;
  core.name = cat("stream ", s.program->number, ", ", name_of(m, s));
  core.parent = parent;
  return streams_[id] = entities_.id(core);
}

RunRecord Recorder::finish(const Machine& m) {
  for (std::size_t core = 0; core < in_.size(); ++core) {
    const perf::EntityId entity = entities_.id(core_entity(m.blob->cores[core]));
    for (const auto& [traffic, lane] : {std::pair(in_[core], std::uint16_t{0}), std::pair(out_[core], std::uint16_t{1})})
      if (traffic.bytes > 0)
        record_.events.push_back({{traffic.begin}, {traffic.end}, entity, perf::EventKind::streams, lane, low32(traffic.bytes), 0});
  }
  for (std::uint32_t id = 0; id < m.kernels.size(); ++id) {
    const KernelState& k = m.kernels[id];
    const Ticks waits = std::accumulate(k.tile_time.begin(), k.tile_time.end(), k.room_time);
    record_.counts.push_back({kernels_[id], perf::Counter::busy_ticks, k.busy_time});
    record_.counts.push_back({kernels_[id], perf::Counter::wait_ticks, waits});
    record_.counts.push_back({kernels_[id], perf::Counter::inputs, static_cast<std::uint64_t>(k.step / k.plan.steps())});
  }
  for (ResourceId id = 0; id < m.fabric.resources().size(); ++id)
    if (m.fabric.resources()[id].bytes > 0)
      record_.counts.push_back({resource(m, id), perf::Counter::bytes, m.fabric.resources()[id].bytes});
  return std::move(record_);
}

}  // namespace buda::sim
