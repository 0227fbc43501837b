// SPDX-License-Identifier: Apache-2.0
// Work beside the interpreter, so that Ctrl-C is answered at once.
//
// Python looks for signals in its main thread, between its own instructions. A call from there therefore does its work in a thread of its
// own and looks for signals while it waits. Work that was interrupted is asked to end, which compilations do between their steps and
// sessions between batches; it is not waited for: it owns all that it uses, and its result is dropped. Calls from other threads of Python,
// which get no signals, work in place.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace buda::python {

// Thrown out of interrupted work, by what it asks.
struct Interrupted {};

// Whether this thread does work that was interrupted; the second one then throws Interrupted.
bool is_lost();
void end_if_lost();

// Calls `work` without the interpreter's lock. Raises what a signal's handler raises, KeyboardInterrupt as a rule, within a fifth of a
// second; `work` then goes on by itself, after `stop`, which must not wait for it and is called without the lock.
void run_apart(std::function<void()> work, const std::function<void()>& stop);

// Raises what a signal's handler raises, between short pieces of work.
void look_for_signals();

// The same of work that gives something. It must own what it uses, none of which may be Python's.
template <class Work>
auto result_apart(Work work, const std::function<void()>& stop = nullptr) {
  using Value = std::invoke_result_t<Work&>;
  struct Task {
    explicit Task(Work w) : work(std::move(w)) {}
    Work work;
    std::optional<Value> value;
    std::exception_ptr thrown;
  };
  auto task = std::make_shared<Task>(std::move(work));
  run_apart(
      [task] {
        try {
          task->value.emplace(task->work());
        } catch (...) {
          task->thrown = std::current_exception();
        }
      },
      stop);
  if (task->thrown) std::rethrow_exception(task->thrown);
  return std::move(*task->value);
}

}  // namespace buda::python
