// SPDX-License-Identifier: Apache-2.0
// What is between a processor that pushes instructions and the units that execute them: a queue, the expander of macro operations (MOP),
// and the replay buffer. One for each thread.
//
// REPLAY stores instructions that follow in a buffer of 32, or plays a part of it.
//
// Each hands on an instruction per cycle; after a macro operation that no other follows, one cycle is lost. Between them there is room for
// eight and for two instructions; whoever pushes waits when the queue is full as well.
// Source: tt-isa-documentation, WormholeB0, MOPExpander and REPLAY.
#pragma once

#include "latencies.hpp"
#include "macro_operations.hpp"
#include "pushed_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::tensix {

class Frontend {
 public:
  // Up to `depth` words wait.
  explicit Frontend(std::size_t depth) : queue_(depth) {}
  Frontend(const Frontend&) = delete;

  PushedWords& queue() { return queue_; }
  const PushedWords& queue() const { return queue_; }
  MacroOperations& macro_operations() { return macro_operations_; }

  // The next instruction for the units, none where the queue is empty. A fault is a sentence without a full stop.
  std::optional<std::uint32_t> next() {
    if (at_ == count_ && !expand_next()) return std::nullopt;
    return words_[at_++];
  }
  // Whence the word came that the last instruction is from.
  std::uint32_t from() const { return from_; }
  // The unit could not take it: it comes again.
  void put_back() { --at_; }
  const std::string& fault() const { return fault_; }

  // When the last instruction can be at the gate before the units, and when the next one can at the earliest.
  Cycle ready() const { return started_ + at_ - 1; }
  Cycle next_ready() const {
    if (at_ != count_) return started_ + at_;
    return queue_.waiting() == 0 ? kNever : std::max(queue_[0].at + latency::kFrontend, free_);
  }
  // Whether the next instruction is a word that waits, with one of these opcodes.
  bool waits_with(std::uint8_t first, std::uint8_t last) const {
    if (at_ != count_ || loading_ != 0 || queue_.waiting() == 0) return false;
    const std::uint32_t code = queue_[0].word >> 24;
    return code >= first && code <= last;
  }
  // After waits_with(): lets words that wait through the gate, as long as `pass` has something for them: pass(word, ready) gives when one
  // goes through, or kNever. Gives how many. They are still in the queue: take_passed() takes the first of them.
  template <class Pass>
  std::size_t pass_waiting(Pass pass);
  std::uint32_t take_passed() {
    const PushedWord& pushed = queue_.take();
    from_ = pushed.from;
    return pushed.word;
  }
  // It has gone through the gate.
  void passed(Cycle at) {
    gate_before_ = gate_;
    gate_ = at;
  }
  // Whether any of the words that are not executed yet is such a one.
  template <class Predicate>
  bool holds(Predicate predicate) const {
    for (std::size_t i = 0; i < queue_.waiting(); ++i)
      if (predicate(queue_[i].word)) return true;
    return std::any_of(words_ + at_, words_ + count_, predicate);
  }

  bool empty() const { return queue_.waiting() == 0 && at_ == count_; }

 private:
  static constexpr std::size_t kReplay = 32, kBetween = 8;

  bool expand_next();
  void take(const PushedWord& pushed, bool loop);
  void leave(Cycle at, Cycle gate_before);
  void expand(std::uint32_t word);
  void replayed(std::uint32_t word);

  PushedWords queue_;
  MacroOperations macro_operations_;
  std::array<std::uint32_t, kReplay> buffer_ = {};
  std::size_t loading_ = 0, load_at_ = 0;  // instructions still to be stored, and where
  bool executes_ = false;                  // what is stored
  // From the last word of the queue: it alone, or what it was expanded to.
  std::uint32_t alone_ = 0;
  std::vector<std::uint32_t> macro_, expanded_;  // before and behind the replay buffer
  const std::uint32_t* words_ = nullptr;
  std::size_t at_ = 0, count_ = 0;
  std::uint32_t from_ = 0;
  std::string fault_;

  std::array<Cycle, kBetween> between_ = {};  // when words left the place before the replay buffer, by number
  Cycle started_ = 0, free_ = 0;              // the last word's first instruction; when the next word can be
  bool after_loop_ = false;
  Cycle gate_ = 0, gate_before_ = 0;  // of the last two instructions
};

// When a word that was pushed at `at` leaves the queue, while the last but one instruction passed the gate at `gate_before`.
inline void Frontend::leave(Cycle at, Cycle gate_before) {
  Cycle& between = between_[queue_.left() % kBetween];
  const Cycle left = std::max(at + 1, between);
  between = std::max(left + 1, gate_before);
  queue_.leave(left);
}

template <class Pass>
std::size_t Frontend::pass_waiting(Pass pass) {
  std::size_t count = 0;
  Cycle free = free_ + (after_loop_ ? 1 : 0), gate = gate_, before = gate_before_;
  for (; count < queue_.waiting(); ++count) {
    const PushedWord& pushed = queue_[count];
    const Cycle ready = std::max(pushed.at + latency::kFrontend, free), at = pass(pushed.word, ready);
    if (at == kNever) break;
    free = ready + 1;
    leave(pushed.at, before);
    before = std::exchange(gate, at);
  }
  if (count == 0) return 0;
  words_ = &alone_;
  at_ = count_ = 1;
  started_ = free - 1;
  free_ = free;
  after_loop_ = false;
  gate_ = gate;
  gate_before_ = before;
  return count;
}

}  // namespace buda::tensix
