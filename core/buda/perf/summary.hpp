// What a timed device tells about a run: how long each epoch took, and why.
#pragma once

#include <buda/perf/time.hpp>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::perf {

struct EpochSummary {
  std::string graph;            // graphs of several chips with a comma between them
  std::int64_t executions = 1;  // all of them together took `total`
  std::int64_t inputs = 0;      // of one execution
  SimTime total;
  SimTime time;    // of the last execution
  SimTime period;  // of that from input to input, once the pipeline is full; of one input its whole time

  // A part of the chain of causes that ends with the epoch, merged by what it is about, and its share of the chain's span.
  struct Cause {
    std::string what;  // "kernel of 'exp'", "reads of input 0 of 'add' over DRAM 3, shared by up to 4"
    double share = 0;
  };
  std::vector<Cause> causes;  // largest first; they add up to 1

  // Parts of the epoch's time, means over the cores.
  struct Op {
    std::string name;
    std::int64_t cores = 0;
    double busy = 0;
    double waits_for_room = 0;
    std::vector<double> waits_for_tiles;  // by operand
    SimTime kernel;                       // of one input, without waiting
  };
  std::vector<Op> ops;

  // What bytes pass through: links, memories.
  struct Load {
    std::string resource;
    double utilisation = 0;  // of its rate
    std::uint64_t bytes = 0;
  };
  std::vector<Load> loads;  // most used first

  std::uint64_t tiles = 0, events = 0;  // moved and simulated, in one execution
};

struct Summary {
  Clock clock;
  SimTime time;                      // of all programs that have run
  std::int64_t inputs = 0;           // that they have processed: those of the epoch with the most
  std::vector<EpochSummary> epochs;  // in the order of their first execution
};

// The text of summary.txt: throughput, and for each epoch what limits it, its ops by their work, and what is used most.
std::string summary_text(const Summary& summary);

}  // namespace buda::perf

#pragma GCC visibility pop
