// SPDX-License-Identifier: Apache-2.0
// The values of a device: what is in its queues, and what its epochs make of it.
#pragma once

#include <buda/tensor/fwd.hpp>

#include <buda/timed/epoch_values.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace buda::timed {

class Values {
 public:
  // Both must outlive it. Errors: GD001 to GD005, as target golden has them, for ops that cannot be computed.
  static Result<std::unique_ptr<Values>> make(const netlist::Netlist& netlist, Host& host, Computing computing);

  // Entries from the host. Pointers are those of the queue's header, or slots of a ram. GD010: they have the wrong shape.
  Result<void> push(std::size_t queue, std::int64_t pointer, const Tensor& entries);
  Result<void> write(std::size_t queue, std::int64_t pointer, const Tensor& entries);
  Result<Tensor> read(std::size_t queue, std::int64_t pointer, std::int64_t entries);
  void clear(std::size_t queue) { queues_[queue].clear(); }

  // An epoch begins, with the pointers of queues as they are now.
  void begin(const std::vector<netlist::Execution>& executions, const QueueTable& pointers);
  // It is simulated, and this arrives; or an execution like an earlier one, in which the same has arrived.
  void watch(std::shared_ptr<const sim::Arrivals> arrivals);
  void watch_again(std::size_t epoch) { watch(arrivals_.at(epoch)); }
  Result<void> end(std::size_t epoch);
  void give_up() { running_.reset(); }

 private:
  Values(const netlist::Netlist& netlist, Host& host, Computing computing)
      : netlist_(netlist), host_(host), computing_(std::move(computing)) {}
  void link();

  const netlist::Netlist& netlist_;
  Host& host_;
  Computing computing_;
  arith::Plans plans_;
  QueueValues queues_;
  std::optional<EpochValues> running_;
  std::shared_ptr<const sim::Arrivals> arriving_;
  std::map<std::size_t, std::shared_ptr<const sim::Arrivals>> arrivals_;  // of the last execution of each epoch
};

}  // namespace buda::timed
