// SPDX-License-Identifier: Apache-2.0
// Messages of time-outs.
#include <buda/runtime/backend/backend_timeouts.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/timeout.hpp>

#include <algorithm>

namespace buda::runtime {
namespace {

std::string entries_text(std::int64_t count) { return cat(count, count == 1 ? " entry" : " entries"); }

// What a program that stands still asks of the host.
std::string request(const std::string& program, const Wait& wait) {
  if (wait.what == Wait::For::push)
    return cat("program '", program, "' waits for ", entries_text(wait.entries), " in queue '", wait.queue, "': push them");
  if (wait.what == Wait::For::pop)
    return cat("program '", program, "' waits for space in queue '", wait.queue, "': pop ", entries_text(wait.entries), " from it");
  return "";
}

std::string advice(const BackendStatus& status, const std::string& when_idle) {
  if (status.state == State::running) return cat("program '", status.program, "' is at work: wait longer");
  for (const Wait& wait : status.waits)
    if (std::string text = request(status.program, wait); !text.empty()) return text;
  return when_idle;
}

std::string run_one_of(const std::map<std::string, std::vector<std::string>>& users, const std::string& queue, const std::string& does) {
  auto it = users.find(queue);
  if (it == users.end()) return cat("no program of the image ", does, " the queue");
  return cat("run ", it->second.size() == 1 ? "program '" : "one of the programs '", join(it->second, "', '"), "', which ", does,
             " the queue");
}

Diagnostic queue_timed_out(std::string_view code, const QueueWait& wait, std::string message, std::string hint) {
  Diagnostic d = input_error(code, {}, std::move(message));
  d.node = wait.queue.name;
  d.hint = std::move(hint);
  d.data = {{"queue", wait.queue.name}, {"needed", cat(wait.entries)}, {"available", cat(wait.there)}};
  return d;
}

}  // namespace

Diagnostic push_timed_out(const QueueWait& wait, const BackendStatus& status, const QueueUsers& users) {
  return queue_timed_out("RT050", wait,
                         cat(wait.what, "queue '", wait.queue.name, "' has space for ", wait.there, " of its ", wait.queue.entries,
                             " entries, ", wait.entries, wait.entries == 1 ? " is" : " are", " pushed, and no more became free in time"),
                         advice(status, run_one_of(users.readers, wait.queue.name, "reads")));
}

Diagnostic pop_timed_out(const QueueWait& wait, const BackendStatus& status, const QueueUsers& users) {
  return queue_timed_out("RT051", wait,
                         cat(wait.what, "queue '", wait.queue.name, "' holds ", entries_text(wait.there), ", ", wait.entries,
                             wait.entries == 1 ? " is" : " are", " asked for, and no more came in time"),
                         advice(status, run_one_of(users.writers, wait.queue.name, "fills")));
}

Diagnostic host_timed_out(const std::string& what, const Port& port) {
  Diagnostic d = input_error("RT051", {}, cat(what, " '", port.tensor->name, "': no batch of it waits on the host, and none came in time"));
  d.hint = what == "input" ? "push it before its turn, or from another thread" : "run_model computes it";
  return d;
}

Diagnostic program_timed_out(const BackendStatus& status) {
  Diagnostic d = input_error("RT052", {}, cat("program '", status.program, "' has not ended in time, and goes on"));
  d.node = status.program;
  d.hint = advice(status, "");
  for (const Wait& wait : status.waits) d.notes.push_back({wait.reason.loc, wait.reason.message});
  return d;
}

bool is_timeout(const Failure& failure) {
  const auto& all = failure.diagnostics();
  return !all.empty() && std::all_of(all.begin(), all.end(),
                                     [](const Diagnostic& d) { return d.code == "RT050" || d.code == "RT051" || d.code == "RT052"; });
}

}  // namespace buda::runtime
