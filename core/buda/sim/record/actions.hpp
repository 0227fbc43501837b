// SPDX-License-Identifier: Apache-2.0
// What has happened, and what led to it: the record from which reports say why an epoch takes its time.
#pragma once

#include <buda/sim/network/fabric.hpp>
#include <buda/sim/time/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::sim {

inline constexpr std::uint32_t kNoAction = 0xffffffff;

// A condition of an action beside its cause: an earlier action, and the time from its end until the effect arrived.
struct Need {
  std::uint32_t action = kNoAction;
  std::uint32_t after = 0;  // ticks
};

struct Action {
  enum class Kind : std::uint8_t { step, send, read, write, host, load };
  Ticks begin = 0, end = 0;
  std::uint32_t entity = 0;         // a kernel for steps, a buffer of a queue for the host, a core for loads, else a stream
  std::uint32_t cause = kNoAction;  // the action whose end let it begin
  std::uint32_t slowest = 0;        // of transfers: the resource that decides their rate
  std::uint16_t sharing = 0;        // transfers on it
  Kind kind = Kind::step;
  std::array<std::uint32_t, kParts> saved = {};  // of transfers, by Part: ticks less if it were twice as fast
  std::uint32_t queued = 0;                      // of reads: ticks at the end in which it only waits for earlier answers
  std::array<Need, 3> also = {};                 // beside the cause: those that were met last

  bool is_transfer() const { return kind == Kind::send || kind == Kind::read || kind == Kind::write; }
};

// A transfer of a stream that has started. `answered`: its path, if it ends when the answer has come.
Action transfer_action(Action::Kind kind, std::uint32_t stream, std::uint32_t cause, const Fabric::Started& started, Ticks begin, Ticks end,
                       const Path* answered = nullptr);

// The last `capacity` actions (a power of two); older ones are forgotten.
class ActionLog {
 public:
  explicit ActionLog(std::size_t capacity = std::size_t{1} << 20) : mask_(capacity - 1) {}

  std::uint32_t add(const Action& action);
  // Null for kNoAction and for what is forgotten.
  const Action* find(std::uint32_t id) const;
  std::uint32_t count() const { return count_; }
  // The newest of the last few thousand actions that had ended by then.
  std::uint32_t ended_by(Ticks time) const;

 private:
  static constexpr std::size_t kBlock = 4096;

  std::size_t mask_;
  std::uint32_t count_ = 0;
  std::vector<std::vector<Action>> blocks_;  // of kBlock each; they grow to the capacity without being moved
};

// A part of the chain of causes that ends with an action.
struct Link {
  const Action* action = nullptr;
  Ticks time = 0;   // that it adds to the chain
  Ticks after = 0;  // between the end of its cause and its beginning: the way of tiles and of the news of room
};

// The chain from `last` back to `from`, or as far as it is known; latest first. The times of its parts add up to the span that it covers.
std::vector<Link> chain_of(const ActionLog& log, std::uint32_t last, Ticks from);

}  // namespace buda::sim
