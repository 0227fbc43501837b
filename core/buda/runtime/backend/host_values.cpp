// SPDX-License-Identifier: Apache-2.0
// Queues under a lock.
#include <buda/runtime/backend/host_values.hpp>

#include <utility>

namespace buda::runtime {

void HostValues::put(const host_plan::PlanTensor& tensor, Tensor batch) {
  std::lock_guard lock(mutex_);
  waiting_[&tensor].push_back(std::move(batch));
  changed_.notify_all();
}

void HostValues::set(const host_plan::PlanTensor& tensor, Tensor batch) {
  std::lock_guard lock(mutex_);
  std::deque<Tensor>& all = waiting_[&tensor];
  all.clear();
  all.push_back(std::move(batch));
  changed_.notify_all();
}

std::optional<Tensor> HostValues::get(const host_plan::PlanTensor& tensor, bool pops, Timeout timeout) {
  std::unique_lock lock(mutex_);
  std::deque<Tensor>& all = waiting_[&tensor];
  const std::uint64_t cancels = cancels_;
  Patience(timeout).wait(changed_, lock, stillness_, [&] { return !all.empty() || cancels_ != cancels; });
  if (all.empty()) return std::nullopt;
  Tensor out = all.front();
  if (pops) all.pop_front();
  return out;
}

void HostValues::set_computing(bool computes) {
  std::lock_guard lock(mutex_);
  stillness_.set(computes);
  changed_.notify_all();
}

void HostValues::cancel() {
  std::lock_guard lock(mutex_);
  ++cancels_;
  changed_.notify_all();
}

std::uint64_t HostValues::cancels() const {
  std::lock_guard lock(mutex_);
  return cancels_;
}

}  // namespace buda::runtime
