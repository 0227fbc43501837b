// What is between a processor that pushes instructions and the units that execute them: a queue, the expander of macro operations (MOP),
// and the replay buffer. One for each thread.
//
// MOP runs one of two loops whose instructions were stored in nine words beside the queue. Template 0: for each of up to 128 bits of a
// mask, from the lowest on, instructions A0 (A1 A2 A3) (B), or, where the bit is set, others instead. Template 1: two nested loops with an
// instruction before each inner loop, up to two after it, and one or two that alternate inside; the last of an inner loop, and the last of
// all, may be others. NOPs stand for nothing.
// REPLAY stores instructions that follow in a buffer of 32, or plays a part of it.
//
// Each hands on an instruction per cycle; after a macro operation that no other follows, one cycle is lost. Between them there is room for
// eight and for two instructions; whoever pushes waits when the queue is full as well.
// Source: tt-isa-documentation, WormholeB0, MOPExpander and REPLAY.
#pragma once

#include "latencies.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::tensix {

class Frontend {
 public:
  // Up to 32 words wait.
  explicit Frontend(std::size_t depth) : depth_(depth) {}
  Frontend(const Frontend&) = delete;

  bool has_room() const { return waiting_ < depth_; }
  // When there came to be room for the next word.
  Cycle room_since() const { return pushed_ < depth_ ? 0 : left_[(pushed_ - depth_) % kLeft]; }
  // `from`: the address of the instruction that pushes it, `at` when.
  void push(std::uint32_t word, std::uint32_t from = 0, Cycle at = 0) {
    // One by one, as they are read soon after.
    Pushed& place = queue_[pushed_++ % kMostWords];
    place.word = word;
    place.from = from;
    place.at = at;
    ++waiting_;
  }
  // The words of MOP's loops. False where there is no such word.
  bool configure(std::size_t index, std::uint32_t word);

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
    return waiting_ == 0 ? kNever : std::max(queue_[(pushed_ - waiting_) % kMostWords].at + latency::kFrontend, free_);
  }
  // It has gone through the gate.
  void passed(Cycle at) {
    gate_before_ = gate_;
    gate_ = at;
  }
  // Whether any of the words that are not executed yet is such a one.
  template <class Predicate>
  bool holds(Predicate predicate) const {
    for (std::size_t i = 0; i < waiting_; ++i)
      if (predicate(queue_[(pushed_ - waiting_ + i) % kMostWords].word)) return true;
    return std::any_of(words_ + at_, words_ + count_, predicate);
  }

  bool empty() const { return waiting_ == 0 && at_ == count_; }

 private:
  static constexpr std::size_t kMostWords = 32, kReplay = 32, kLeft = 64, kBetween = 8;
  struct Pushed {
    std::uint32_t word = 0, from = 0;
    Cycle at = 0;
  };

  bool expand_next();
  void take(const Pushed& pushed, bool loop);
  void expand(std::uint32_t word);
  void expand_masked(std::uint32_t word);
  void expand_nested();
  void replayed(std::uint32_t word);
  void emit(std::uint32_t word);

  std::size_t depth_;
  std::array<Pushed, kMostWords> queue_ = {};  // `waiting_` words, at their numbers
  std::size_t waiting_ = 0;
  std::array<std::uint32_t, 9> loop_ = {};
  std::uint32_t mask_high_ = 0;
  std::array<std::uint32_t, kReplay> buffer_ = {};
  std::size_t loading_ = 0, load_at_ = 0;  // instructions still to be stored, and where
  bool executes_ = false;                  // what is stored
  // From the last word of the queue: it alone, or what it was expanded to.
  std::uint32_t alone_ = 0;
  std::vector<std::uint32_t> expanded_;
  const std::uint32_t* words_ = nullptr;
  std::size_t at_ = 0, count_ = 0;
  std::uint32_t from_ = 0;
  std::string fault_;

  // Of words, by number: when they left the queue, and when they left the place before the replay buffer.
  std::uint64_t pushed_ = 0, taken_ = 0;
  std::array<Cycle, kLeft> left_ = {};
  std::array<Cycle, kBetween> between_ = {};
  Cycle started_ = 0, free_ = 0;  // the last word's first instruction; when the next word can be
  bool after_loop_ = false;
  Cycle gate_ = 0, gate_before_ = 0;  // of the last two instructions
};

}  // namespace buda::tensix
