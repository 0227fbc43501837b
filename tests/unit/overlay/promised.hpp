// SPDX-License-Identifier: Apache-2.0
// What pipes promise to each kernel input and queue: read off a pipegen file by its definition (docs/formats/pipegen.md), for comparison
// with a replay.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>

#include "unit/overlay/replay.hpp"

#include <map>
#include <string>
#include <vector>

namespace buda::overlay {

struct Promised {
  std::map<Id, std::vector<Tiles>> inputs;
  std::map<Id, std::vector<Tiles>> queues;
};
Promised promised(const pipes::PipeGraph& graph);

// Empty, or the first difference between what comes and what was promised.
std::string difference(const Promised& wanted, const Replay& got);

}  // namespace buda::overlay
