// SPDX-License-Identifier: Apache-2.0
// Batches that wait on the host: inputs that only segments of the host use, outputs that only these give, and states that they keep.
#pragma once

#include <buda/host_plan/host_plan.hpp>
#include <buda/runtime/backend/patience.hpp>
#include <buda/runtime/timeout.hpp>
#include <buda/tensor/tensor.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace buda::runtime {

// Of several threads.
class HostValues {
 public:
  void put(const host_plan::PlanTensor& tensor, Tensor batch);
  // Instead of all that waits.
  void set(const host_plan::PlanTensor& tensor, Tensor batch);
  // The oldest batch, which goes if it is popped; nothing when none came in time, or before a call of cancel().
  std::optional<Tensor> get(const host_plan::PlanTensor& tensor, bool pops, Timeout timeout);
  // Whether something is being computed, for which calls without a time-out wait.
  void set_computing(bool computes);

  // Ends the waiting of all.
  void cancel();
  std::uint64_t cancels() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Stillness stillness_;
  std::uint64_t cancels_ = 0;
  std::map<const host_plan::PlanTensor*, std::deque<Tensor>> waiting_;
};

}  // namespace buda::runtime
