// SPDX-License-Identifier: Apache-2.0
// What a timed device tells about a run: how long each epoch took, and why.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/perf/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::perf {

struct EpochSummary {
  std::string graph;            // graphs of several chips with a comma between them
  std::int64_t executions = 1;  // all of them together took `total`
  std::int64_t inputs = 0;      // of one execution
  SimTime total;
  SimTime switching;    // part of `total` that passes before the last core has its program
  SimTime time;         // of the last execution
  SimTime period;       // of that from input to input, once the pipeline is full; of one input its whole time
  SimTime mean_period;  // from the first input to the last, where that is longest, by input: as TT-Buda measures it on a chip
  SimTime first_input;  // of that from its beginning until all ops have done with the first input

  // A part of the chain of causes that ends with the epoch, merged by what it is about.
  struct Cause {
    enum class Kind : std::uint8_t { kernel, send, read, write, host, load, latency };
    std::string what;  // "kernel of 'exp'", "reads of input 0 of 'add' over DRAM 3, shared by up to 4"
    double share = 0;  // of `span`
    Kind kind = Kind::latency;
    std::string op;             // whose kernel, input or output it is; empty where no op is concerned
    std::int32_t operand = -1;  // of inputs
    SimTime time;
    friend bool operator==(const Cause&, const Cause&) = default;
  };
  std::vector<Cause> causes;  // largest first; their times add up to `span`, and their shares to 1
  SimTime span;               // that the chain covers: the end of the last execution

  // A part of the chip, and what the epoch would gain if it were twice as fast.
  struct Limit {
    std::string what;  // "networks", "DRAM", "kernel of 'exp'"
    std::string op;    // whose kernel it is
    double gain = 0;   // part of the time that would be saved
    friend bool operator==(const Limit&, const Limit&) = default;
  };
  std::vector<Limit> limits;  // largest gain first

  // What a core takes or gives for one input.
  struct Pipe {
    std::string name;                  // of the op or queue that it comes from
    bool memory = false;               // to or from a queue
    std::uint64_t bytes = 0;           // largest of all cores
    double waits = 0;                  // part of the time that the kernel waits for it
    std::int64_t z = 0, y = 0, x = 0;  // of the whole tensor, for one input; 0 where unknown
    double moving = 0;                 // that part of it in which tiles were on their way, not still to be made or used by another kernel
    double dram = 0;                   // of that what DRAM decided, not the networks
    std::optional<double> delay;       // cycles of `moving` for one input while the pipeline is full
    friend bool operator==(const Pipe&, const Pipe&) = default;
  };
  // Parts of the epoch's time, means over the cores.
  struct Op {
    std::string name;
    std::int64_t cores = 0;
    double busy = 0;
    std::vector<Pipe> inputs;
    Pipe output;
    SimTime kernel;  // of one input, without waiting
    // Of the netlist, and what is known of it before it runs; cycles of one input. A target may leave these out.
    std::string type;
    GridShape grid;
    std::int32_t t = 0, mblock_m = 0, mblock_n = 0, ublock_r = 0, ublock_c = 0, m_k = 0, u_kt = 0;
    std::string fidelity;
    double estimate = 0;               // of the kernel, as the balancer takes it
    double limiter = 0;                // the same with the ways in and out
    double math = 0;                   // that the math unit works
    std::vector<std::string> formats;  // of the inputs, then of the output
    // Where parts of its kernel begin and end, in the order of time by thread (unpack, math, pack): a part of the kernel's time for one
    // input.
    struct Mark {
      std::string zone;
      std::uint8_t thread = 0;
      bool ends = false;
      double at = 0;  // 0 to 1
      friend bool operator==(const Mark&, const Mark&) = default;
    };
    std::vector<Mark> marks;
    friend bool operator==(const Op&, const Op&) = default;
  };
  std::vector<Op> ops;

  // What bytes pass through: links, memories.
  struct Load {
    std::string resource;
    double utilisation = 0;  // of its rate
    std::uint64_t bytes = 0;
    friend bool operator==(const Load&, const Load&) = default;
  };
  std::vector<Load> loads;  // most used first

  double math_utilisation = 0;      // part of the time that math units work, mean over the workers of the chips; 0 where unknown
  std::vector<std::string> advice;  // what makes it faster, with the option to set and what that would come to

  std::uint64_t tiles = 0, events = 0;  // moved and simulated, in one execution
  friend bool operator==(const EpochSummary&, const EpochSummary&) = default;
};

struct Summary {
  Clock clock;
  std::string arch;                  // of the device: "wormhole_b0"
  SimTime time;                      // of all programs that have run
  std::int64_t inputs = 0;           // that they have processed: those of the epoch with the most
  std::int64_t rows = 0;             // of the model, where an input of the device is a batch of several; 0: an input is one
  std::int64_t padding = 0;          // rows of zeros beside them, with which batches were filled up
  std::vector<EpochSummary> epochs;  // in the order of their first execution

  // What users count: rows where there are batches.
  std::int64_t samples() const { return rows > 0 ? rows : inputs; }
  double inputs_per_second() const;
  // What epochs take at a time: an "input", or of rows a "batch".
  std::string_view unit() const { return rows > 0 && rows != inputs ? "batch" : "input"; }
  std::string counted(std::int64_t units) const;  // "1 input", "3 batches"
  // Sets both. Advice about cycles per input is about batches then.
  void set_rows(std::int64_t all, std::int64_t of_padding);
  // From the beginning until the first input has left the last epoch, each epoch being executed once.
  SimTime latency() const;
};

// The text of summary.txt: throughput and latency; for each epoch what limits it and what would help, its ops, and what is used most.
std::string summary_text(const Summary& summary);

}  // namespace buda::perf

#pragma GCC visibility pop
