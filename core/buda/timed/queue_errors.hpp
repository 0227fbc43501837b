// SPDX-License-Identifier: Apache-2.0
// What is wrong with what the host asks of queues and programs, for devices that keep the pointers of queues.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/runtime/target.hpp>
#include <buda/timed/queue_pointers.hpp>

#include <cstdint>
#include <string>

namespace buda::timed {

inline constexpr const char* kNotPushed = "its slots are written, not pushed";
inline constexpr const char* kNotPopped = "its slots are read, not popped";
inline constexpr const char* kNothingWaits = "it has slots, and nothing waits in it";

// SM013 where `count` entries have no room, or do not fit from a slot on.
Result<void> check_room(const netlist::Netlist& netlist, const QueuePointers& queue, std::int64_t room, std::int64_t count);
Result<void> check_slots(const netlist::Netlist& netlist, const QueuePointers& queue, std::int64_t slot, std::int64_t count);
// SM014 where so many entries are not there.
Result<void> check_there(const netlist::Netlist& netlist, const QueuePointers& queue, std::int64_t there, std::int64_t slot,
                         std::int64_t count);
// SM016 where a parameter does not fit.
Result<netlist::ProgramParameters> program_parameters(const netlist::Netlist& netlist, const std::string& program,
                                                      const runtime::Parameters& parameters);
// SM017, why an epoch waits for the host.
Diagnostic waits_for(const netlist::Netlist& netlist, const netlist::Queue& queue, std::size_t epoch, bool for_room);

}  // namespace buda::timed
