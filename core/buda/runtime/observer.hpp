// SPDX-License-Identifier: Apache-2.0
// Looking into a device while it runs: what every op makes, and which graphs execute with which pointers.
#pragma once

#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <map>
#include <string>

#pragma GCC visibility push(default)

namespace buda::runtime {

// Where a queue's header points before a graph executes. Of rams both are 0.
struct QueuePointers {
  std::int64_t read = 0, write = 0;
};

// Called from one thread, in the order of execution; everything is valid during the call only.
class Observer {
 public:
  virtual ~Observer() = default;

  // Whether this op's outputs are to be shown: making tensors of them costs time.
  virtual bool wants(const netlist::Op& op) const {
    (void)op;
    return false;
  }
  // An op's output for one input of its graph, (1, z, r, c) in the host's type of its out_df. Of gradient ops: the sum so far.
  virtual void made(const netlist::Graph& graph, const netlist::Op& op, std::int64_t input, const Tensor& value) {
    (void)graph;
    (void)op;
    (void)input;
    (void)value;
  }
  // A graph begins to execute. Graphs that feed each other begin together, before the first op of any of them.
  virtual void executes(const netlist::Graph& graph, const netlist::Execution& execution,
                        const std::map<std::string, QueuePointers>& queues) {
    (void)graph;
    (void)execution;
    (void)queues;
  }
  // A queue is given back its state of the beginning, or a program has moved its read pointer.
  virtual void allocated(const netlist::Queue& queue) { (void)queue; }
  virtual void moved(const netlist::Queue& queue, std::int64_t read) {
    (void)queue;
    (void)read;
  }
};

}  // namespace buda::runtime

#pragma GCC visibility pop
