// SPDX-License-Identifier: Apache-2.0
// What a recording says of each execution of an epoch: when which core worked on which input.
#pragma once

#include <buda/perf/recording.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::perf {

struct InputRun {
  std::int64_t input = 0;
  SimTime begin, end;  // of the first and the last step
  SimTime work;        // without waiting
};

struct CoreRun {
  const Entity* op = nullptr;
  const Entity* core = nullptr;  // its name is its place on the network
  std::vector<InputRun> inputs;  // in their order
  SimTime begin() const { return inputs.front().begin; }
  SimTime end() const { return inputs.back().end; }
  // When streams of the core began and ended to bring tiles, and to take them away; equal where there are none.
  SimTime in_begin, in_end, out_begin, out_end;
};

struct Execution {
  std::string program, graph;
  std::uint32_t epoch = 0;
  SimTime begin, end;
  std::vector<CoreRun> cores;  // in the order of their first end; each has an input at least
};

// Of a recording of level `inputs` or above, which must outlive the result; in order of time.
std::vector<Execution> executions_of(const Recording& recording);

}  // namespace buda::perf
