// SPDX-License-Identifier: Apache-2.0
// The event of an epoch is the last of its execution.
#include <buda/perf/executions.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::perf {
namespace {

struct Streams {
  SimTime begin[2], end[2];  // by lane
};

void add_streams(std::vector<CoreRun>& cores, const std::map<const Entity*, Streams>& streams) {
  for (CoreRun& core : cores) {
    core.in_begin = core.in_end = core.out_begin = core.out_end = core.begin();
    const auto found = streams.find(core.core);
    if (found == streams.end()) continue;
    const Streams& s = found->second;
    if (s.end[0].ticks > 0) core.in_begin = s.begin[0], core.in_end = s.end[0];
    if (s.end[1].ticks > 0) core.out_begin = s.begin[1], core.out_end = s.end[1];
  }
}

}  // namespace

std::vector<Execution> executions_of(const Recording& recording) {
  std::vector<Execution> out;
  std::vector<CoreRun> cores;
  std::map<EntityId, std::size_t> index;
  std::map<const Entity*, Streams> streams;
  const auto& entities = recording.entities();
  for (const Event& event : recording.events()) {
    const Entity& entity = entities[event.entity.index()];
    if (event.kind == EventKind::epoch) {
      add_streams(cores, streams);
      out.push_back({entity.parent.valid() ? entities[entity.parent.index()].name : "", entity.name, event.a, event.begin, event.end,
                     std::exchange(cores, {})});
      index.clear();
      streams.clear();
    } else if (event.kind == EventKind::input) {
      auto [it, fresh] = index.try_emplace(event.entity, cores.size());
      if (fresh) {
        cores.emplace_back();
        cores.back().op = &entity;
        cores.back().core = entity.parent.valid() ? &entities[entity.parent.index()] : &entity;
      }
      cores[it->second].inputs.push_back({event.a, event.begin, event.end, {event.b}});
    } else if (event.kind == EventKind::streams) {
      Streams& s = streams[&entity];
      s.begin[event.lane != 0] = event.begin;
      s.end[event.lane != 0] = event.end;
    }
  }
  return out;
}

}  // namespace buda::perf
