// Queues under a lock.
#include <buda/runtime/host_values.hpp>

#include <utility>

namespace buda::runtime {

void HostValues::put(const host_plan::PlanTensor& tensor, Tensor batch) {
  std::lock_guard lock(mutex_);
  waiting_[&tensor].push_back(std::move(batch));
  changed_.notify_all();
}

std::optional<Tensor> HostValues::get(const host_plan::PlanTensor& tensor, bool pops, Timeout timeout) {
  std::unique_lock lock(mutex_);
  std::deque<Tensor>& all = waiting_[&tensor];
  if (!Patience(timeout).wait(changed_, lock, stillness_, [&] { return !all.empty(); })) return std::nullopt;
  Tensor out = all.front();
  if (pops) all.pop_front();
  return out;
}

void HostValues::set_computing(bool computes) {
  std::lock_guard lock(mutex_);
  stillness_.set(computes);
  changed_.notify_all();
}

}  // namespace buda::runtime
