// SPDX-License-Identifier: Apache-2.0
// Collecting tensors and lines.
#include "apps/runner/watch.hpp"

#include <buda/io/json.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::runner {

using io::Node;

namespace {

Node call(const char* what) {
  Node out = Node::map();
  out.add("call", Node::string(what));
  return out;
}

}  // namespace

bool Watch::wants(const netlist::Op& op) const { return all_ || std::find(ops_.begin(), ops_.end(), op.name) != ops_.end(); }

void Watch::made(const netlist::Graph&, const netlist::Op& op, std::int64_t, const Tensor& value) { made_[op.name].push_back(value); }

void Watch::executes(const netlist::Graph& graph, const netlist::Execution&, const std::map<std::string, runtime::QueuePointers>& queues) {
  if (trace_ == nullptr) return;
  Node line = call("execute");
  line.add("graph", Node::string(graph.name));
  Node pointers = Node::map();
  for (const auto& [name, p] : queues) {
    Node both = Node::map();
    both.add("read", Node::integer(p.read));
    both.add("write", Node::integer(p.write));
    pointers.add(name, std::move(both));
  }
  line.add("queues", std::move(pointers));
  trace_->push_back(io::json_line(line) + "\n");
}

void Watch::allocated(const netlist::Queue& queue) {
  if (trace_ == nullptr) return;
  Node line = call("allocate");
  line.add("queue", Node::string(queue.name));
  trace_->push_back(io::json_line(line) + "\n");
}

void Watch::moved(const netlist::Queue& queue, std::int64_t read) {
  if (trace_ == nullptr) return;
  Node line = call("move");
  line.add("queue", Node::string(queue.name));
  line.add("read", Node::integer(read));
  trace_->push_back(io::json_line(line) + "\n");
}

Result<NamedTensors> Watch::dumped() const {
  NamedTensors out;
  for (const auto& [name, tensors] : made_) {
    BUDA_ASSIGN(auto whole, runtime::joined(tensors));
    out.emplace(name, std::move(whole));
  }
  return out;
}

}  // namespace buda::runner
