// SPDX-License-Identifier: Apache-2.0
// Hears what a machine does, and makes events of it. Internal to the module.
#pragma once

#include <buda/sim/network/fabric.hpp>
#include <buda/sim/record/run_record.hpp>

#include <cstdint>
#include <vector>

namespace buda::sim {

struct Machine;
struct KernelState;
struct Action;

class Recorder {
 public:
  Recorder(const Machine& m, EntityTable& entities, perf::Level level);

  // A kernel begins a step; has waited until now; has ended the last step for an input.
  void step(const Machine& m, std::uint32_t kernel, Ticks end);
  void waited(const Machine& m, std::uint32_t kernel);
  void input_done(const Machine& m, std::uint32_t kernel);
  // Bytes are on their way for a stream.
  void transfer(const Machine& m, const Action& action, std::uint64_t bytes);
  // Adds up the counters of a machine that has stopped.
  RunRecord finish(const Machine& m);

 private:
  bool records(perf::Level level) const { return level_ >= level; }
  perf::EntityId resource(const Machine& m, ResourceId id);
  perf::EntityId stream(const Machine& m, std::uint32_t id);

  EntityTable& entities_;
  perf::Level level_;
  RunRecord record_;
  // What a core's streams bring and take away.
  struct Traffic {
    Ticks begin = 0, end = 0;
    std::uint64_t bytes = 0;
    void add(const Action& action, std::uint64_t more);
  };
  std::vector<Traffic> in_, out_;  // by core
  std::vector<perf::EntityId> kernels_, resources_, streams_;
};

}  // namespace buda::sim
