// SPDX-License-Identifier: Apache-2.0
// Errors of calls that timed out: what they waited for, and what would help.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/queue.hpp>
#include <buda/runtime/backend_status.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/runtime/programs/queue_users.hpp>

#include <cstdint>
#include <string>

namespace buda::runtime {

// A push (RT050) or pop (RT051) of entries. `what` begins the message: "input 'x': ", or nothing.
struct QueueWait {
  std::string what;
  const netlist::Queue& queue;
  std::int64_t entries = 0;  // that were to be moved
  std::int64_t there = 0;    // room, or entries that wait
};
Diagnostic push_timed_out(const QueueWait& wait, const BackendStatus& status, const QueueUsers& users);
Diagnostic pop_timed_out(const QueueWait& wait, const BackendStatus& status, const QueueUsers& users);
// Of an input or output that has no queue (RT051).
Diagnostic host_timed_out(const std::string& what, const Port& port);
// Of programs (RT052).
Diagnostic program_timed_out(const BackendStatus& status);

}  // namespace buda::runtime
