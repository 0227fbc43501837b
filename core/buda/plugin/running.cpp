// SPDX-License-Identifier: Apache-2.0
// A place for each thread that has been in a plugin, in a list that only grows; those of ended threads are used again.
#include <buda/plugin/running.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace buda::plugin {
namespace {

struct Seat {
  std::atomic<bool> taken = true;
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<const PluginCode*> code = nullptr;
  Seat* next = nullptr;
};

std::atomic<Seat*> first_seat = nullptr;
std::atomic<const PluginCode*> long_call = nullptr;

Seat& free_seat() {
  for (Seat* seat = first_seat.load(); seat != nullptr; seat = seat->next)
    if (bool taken = false; seat->taken.compare_exchange_strong(taken, true)) return *seat;
  auto* seat = new Seat;
  seat->next = first_seat.load();
  while (!first_seat.compare_exchange_weak(seat->next, seat)) {
  }
  return *seat;
}

// The seat of this thread, until the thread ends.
struct Sitting {
  Seat& seat = free_seat();
  ~Sitting() { seat.taken = false; }
};

Seat& own_seat() {
  thread_local Sitting sitting;
  return sitting.seat;
}

// A handler of signals reads it, where memory for it must not be got first.
__attribute__((tls_model("initial-exec"))) thread_local const PluginCode* running = nullptr;

void sit(const PluginCode* code) {
  running = code;
  Seat& seat = own_seat();
  seat.calls.fetch_add(1, std::memory_order_relaxed);
  seat.code.store(code, std::memory_order_release);
}

}  // namespace

const PluginCode& plugin_code(const std::string& who, const std::string& file) {
  static std::mutex mutex;
  static auto* all = new std::map<std::pair<std::string, std::string>, PluginCode>;
  const std::lock_guard lock(mutex);
  return all->try_emplace({who, file}, PluginCode{who, file}).first->second;
}

const char* running_plugin() noexcept { return running == nullptr ? nullptr : running->who.c_str(); }

InPlugin::InPlugin(const PluginCode& code) : before_(running) { sit(&code); }
InPlugin::~InPlugin() { sit(before_); }

std::vector<RunningCall> running_calls() {
  std::vector<RunningCall> out;
  for (Seat* seat = first_seat.load(); seat != nullptr; seat = seat->next)
    if (const PluginCode* code = seat->code.load(std::memory_order_acquire))
      out.push_back({seat, seat->calls.load(std::memory_order_relaxed), code});
  return out;
}

void set_long_call(const PluginCode* code) noexcept { long_call = code; }
const char* plugin_with_long_call() noexcept {
  const PluginCode* code = long_call.load();
  return code == nullptr ? nullptr : code->who.c_str();
}

}  // namespace buda::plugin
