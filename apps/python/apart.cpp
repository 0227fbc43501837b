// SPDX-License-Identifier: Apache-2.0
// A thread for each call from Python's main thread, which looks for signals twenty times a second.
#include "apps/python/apart.hpp"

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace py = pybind11;

namespace buda::python {
namespace {

// Whether the call of a work still waits for it.
class Attention {
 public:
  bool is_lost() const { return lost_; }
  void lose() { lost_ = true; }

 private:
  std::atomic<bool> lost_ = false;
};

constexpr auto kLook = std::chrono::milliseconds(50), kGrace = std::chrono::milliseconds(100);

// Whether signals are told to this thread.
bool is_main_thread() {
  return PyThread_get_thread_ident() == py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
}

// Interrupted works that have not ended. The end of the process does not wait for them, and they must not run while it is taken apart: then
// it ends without that.
std::atomic<int> works_left{0};

void end_without_works(int status, void*) {
  if (works_left == 0) return;
  std::fflush(nullptr);
  ::_exit(status);
}

// How far the work is. Its thread and the call have it in common, whoever ends first.
class Progress {
 public:
  // The work has ended.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      if (left_) --works_left;
    }
    changed_.notify_all();
  }
  // The call ends before the work.
  void leave() {
    static const int once = ::on_exit(end_without_works, nullptr);
    static_cast<void>(once);
    const std::lock_guard lock(mutex_);
    left_ = !ended_;
    if (left_) ++works_left;
  }
  bool ends_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return ended_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false, left_ = false;
};

// Of the work that this thread does; null in other threads.
thread_local const Attention* attention_here = nullptr;

}  // namespace

bool is_lost() { return attention_here != nullptr && attention_here->is_lost(); }

void end_if_lost() {
  if (is_lost()) throw Interrupted();
}

void run_apart(std::function<void()> work, const std::function<void()>& stop) {
  if (!is_main_thread()) {
    const py::gil_scoped_release others_run;
    work();
    return;
  }
  auto progress = std::make_shared<Progress>();
  auto attention = std::make_shared<Attention>();
  std::thread thread([progress, attention, work = std::move(work)]() mutable {
    attention_here = attention.get();
    work();
    work = nullptr;  // what it owns goes before it counts as ended
    progress->end();
  });
  while (true) {
    bool ended = false;
    {
      const py::gil_scoped_release others_run;
      ended = progress->ends_within(kLook);
    }
    if (ended) break;
    if (PyErr_CheckSignals() == 0) continue;
    const py::error_already_set interruption;
    progress->leave();
    attention->lose();
    thread.detach();
    const py::gil_scoped_release others_run;
    if (stop) stop();
    progress->ends_within(kGrace);
    throw interruption;
  }
  thread.join();
}

void look_for_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace buda::python
