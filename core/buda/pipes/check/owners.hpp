// SPDX-License-Identifier: Apache-2.0
// Whose buffer each buffer of a graph is. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked_epoch.hpp>
#include <buda/pipes/check/findings.hpp>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace buda::pipes {

struct Owner {
  enum class Kind : std::uint8_t { none, op, queue, prologue, relay, padding };
  Kind kind = Kind::none;
  const netlist::Op* op = nullptr;
  std::size_t queue = NetlistIndex::kNone;
  std::int64_t core = 0;  // or buffer of the queue
};

struct Owners {
  using Core = std::pair<const netlist::Op*, std::int64_t>;

  const Owner* find(const Buffer* b) const {
    auto it = b == nullptr ? of_buffer.end() : of_buffer.find(b->id);
    return it == of_buffer.end() ? nullptr : &it->second;
  }
  bool is_relay(const Buffer* b) const {
    const Owner* owner = find(b);
    return owner != nullptr && owner->kind == Owner::Kind::relay;
  }
  // Null if the graph has no such buffer.
  const Buffer* input(const netlist::Op& op, std::int64_t core, std::size_t operand) const {
    auto it = inputs.find({&op, core, static_cast<std::int32_t>(operand)});
    return it == inputs.end() ? nullptr : it->second;
  }
  const Buffer* output(const netlist::Op& op, std::int64_t core) const {
    auto it = outputs.find({&op, core});
    return it == outputs.end() ? nullptr : it->second;
  }

  std::map<Id, Owner> of_buffer;                                                               // of what pipes can read or write
  std::map<std::tuple<const netlist::Op*, std::int64_t, std::int32_t>, const Buffer*> inputs;  // by operand; looked up only
  std::map<Core, const Buffer*> outputs;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Core> core_at;  // by chip, row and column
};

// By core or address, as the netlist places ops and queues. PC001 to PC006 where there is no such op or queue, or a buffer is not as its
// owner needs it.
Owners find_owners(const CheckedEpoch& epoch, Findings& findings);

// The address of a queue's buffer, for the chip that uses it in this epoch.
std::uint64_t address_of(const CheckedEpoch& epoch, const netlist::Queue& queue, std::size_t buffer);

}  // namespace buda::pipes
