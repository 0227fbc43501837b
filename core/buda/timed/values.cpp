// SPDX-License-Identifier: Apache-2.0
// Tensors of the host as entries of queues, and back.
#include <buda/timed/values.hpp>

#include <buda/arith/host_tensor.hpp>
#include <buda/tensor/tensor.hpp>

#include <limits>
#include <utility>

namespace buda::timed {

using arith::ValuePtr;

Result<std::unique_ptr<Values>> Values::make(const netlist::Netlist& netlist, Host& host, Computing computing) {
  std::unique_ptr<Values> made(new Values(netlist, host, std::move(computing)));
  // Ops are computed on whole tensors, never matrix by matrix.
  BUDA_ASSIGN(made->plans_, arith::plan_graphs(netlist, std::numeric_limits<std::int64_t>::max()));
  for (const netlist::Queue& queue : netlist.queues) made->queues_.emplace_back(queue);
  made->link();
  return made;
}

// Rams in one memory.
void Values::link() {
  for (std::size_t q = 0; q < queues_.size(); ++q)
    for (std::size_t other = 0; other < queues_.size(); ++other)
      if (other != q && netlist_.queues[other].name == netlist_.queues[q].alias) queues_[q].look_at(queues_[other]);
}

Result<void> Values::push(std::size_t queue, std::int64_t pointer, const Tensor& tensor) {
  BUDA_ASSIGN(auto entries, arith::entries_from(tensor, netlist_.queues[queue], computing_.mode));
  for (ValuePtr& entry : entries) {
    if (running_) {
      running_->pushed(queue, pointer++, std::move(entry));
    } else {
      queues_[queue].put(pointer++, std::move(entry));
    }
  }
  return success();
}

Result<void> Values::write(std::size_t queue, std::int64_t pointer, const Tensor& tensor) {
  BUDA_ASSIGN(auto entries, arith::entries_from(tensor, netlist_.queues[queue], computing_.mode));
  for (ValuePtr& entry : entries) queues_[queue].put(pointer++, std::move(entry));
  return success();
}

Result<Tensor> Values::read(std::size_t queue, std::int64_t pointer, std::int64_t count) {
  if (running_) BUDA_TRY(running_->compute());
  std::vector<ValuePtr> entries;
  for (std::int64_t i = 0; i < count; ++i) entries.push_back(queues_[queue].at(pointer + i));
  return arith::tensor_from(entries, netlist_.queues[queue]);
}

void Values::begin(const std::vector<netlist::Execution>& executions, const QueueTable& pointers) {
  running_.emplace(netlist_, plans_, computing_, queues_, host_, executions, pointers);
}

void Values::watch(std::shared_ptr<const sim::Arrivals> arrivals) {
  arriving_ = arrivals;
  running_->watch(std::move(arrivals));
}

Result<void> Values::end(std::size_t epoch) {
  BUDA_TRY(running_->finish());
  arrivals_[epoch] = arriving_;
  running_.reset();
  return success();
}

}  // namespace buda::timed
