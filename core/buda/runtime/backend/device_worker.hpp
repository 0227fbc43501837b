// SPDX-License-Identifier: Apache-2.0
// A device at work on a thread of its own, beside threads that push and pop.
//
// A device takes calls from one thread at a time, and hands its queues to the host between two calls of advance(). So the worker advances
// programs in slices, each up to the next entry of an output, and gives way between them to whoever waits.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/backend/patience.hpp>
#include <buda/runtime/backend_status.hpp>
#include <buda/runtime/target.hpp>
#include <buda/runtime/timeout.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace buda::runtime {

class DeviceWorker {
 public:
  // `slices`: by program the queue whose next entry ends a slice; a program that is not in it has one slice.
  DeviceWorker(std::shared_ptr<Device> device, std::map<std::string, std::string> slices);
  // Gives up what is at work.
  ~DeviceWorker();
  DeviceWorker(const DeviceWorker&) = delete;
  DeviceWorker& operator=(const DeviceWorker&) = delete;

  // Calls `body` while the device does nothing else: once, and again whenever its queues may have changed, until it gives true. False: that
  // did not happen in time. What a program failed with is the failure of all that waits.
  Result<bool> attempt(Timeout timeout, const std::function<Result<bool>(Device&)>& body);

  // The program follows those that were started before it. A failure of one of them, which then is told here, keeps it from that.
  Result<void> start(const std::string& program, const Parameters& parameters);
  // Until all programs have ended; false when they have not in time. Tells a failure once.
  Result<bool> wait(Timeout timeout);
  // Gives up the program at work and those behind it.
  void cancel();
  BackendStatus status() const;

 private:
  struct Pending {
    std::string program;
    Parameters parameters;
  };

  void work();
  void run(const Pending& next, std::unique_lock<std::mutex>& lock);
  Result<State> slice(const std::string& program, bool begins, const Parameters& parameters);
  void leave_to_host(std::unique_lock<std::mutex>& lock);
  std::optional<Failure> taken_failure();
  void fail(Failure failure);

  std::shared_ptr<Device> device_;
  const std::map<std::string, std::string> slices_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<Pending> pending_;
  std::string running_;
  Progress progress_;  // of the last slice
  std::optional<Failure> failure_;
  std::uint64_t changes_ = 0;  // of queues
  std::size_t callers_ = 0;    // that want the device now
  bool busy_ = false;          // somebody has the device
  bool cancelled_ = false;     // what is at work
  bool ends_ = false;          // the worker
  Stillness stillness_;
  std::thread thread_;
};

}  // namespace buda::runtime
