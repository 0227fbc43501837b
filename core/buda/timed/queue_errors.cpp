// SPDX-License-Identifier: Apache-2.0
// Messages.
#include <buda/timed/queue_errors.hpp>

#include <buda/base/text.hpp>

#include <limits>

namespace buda::timed {

Result<void> check_room(const netlist::Netlist& netlist, const QueuePointers& queue, std::int64_t room, std::int64_t count) {
  if (count <= room) return success();
  return input_error(
      "SM013", {netlist.file},
      cat("queue '", queue.queue().name, "' has space for ", room, " of its ", queue.entries(), " entries, ", count, " are pushed"));
}

Result<void> check_slots(const netlist::Netlist& netlist, const QueuePointers& queue, std::int64_t slot, std::int64_t count) {
  const std::int64_t there = queue.is_ram() ? queue.entries() : queue.occupancy();
  if (slot >= 0 && slot <= there && count <= there - slot) return success();
  return input_error("SM013", {netlist.file},
                     cat("'", queue.queue().name, "' has ", there, " slots; ", count, " from slot ", slot, " on do not fit"));
}

Result<void> check_there(const netlist::Netlist& netlist, const QueuePointers& queue, std::int64_t there, std::int64_t slot,
                         std::int64_t count) {
  if (slot >= 0 && count >= 0 && slot <= there && count <= there - slot) return success();
  return input_error("SM014", {netlist.file},
                     cat("'", queue.queue().name, "' holds ", there, " entries; ", count, " from ", slot, " on are asked for"));
}

Result<netlist::ProgramParameters> program_parameters(const netlist::Netlist& netlist, const std::string& program,
                                                      const runtime::Parameters& parameters) {
  netlist::ProgramParameters values;
  for (const auto& [name, value] : parameters) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
      return input_error("SM016", {netlist.file},
                         cat("parameter '", name, "' of program '", program, "' is ", value, ", which does not fit in 32 bits"));
    values[name] = static_cast<std::int32_t>(value);
  }
  return values;
}

Diagnostic waits_for(const netlist::Netlist& netlist, const netlist::Queue& queue, std::size_t epoch, bool for_room) {
  Diagnostic d = input_error("SM017", {netlist.file},
                             cat("epoch ", epoch, " waits for ", for_room ? "space in queue '" : "an entry in queue '", queue.name, '\''));
  d.node = queue.name;
  return d;
}

}  // namespace buda::timed
