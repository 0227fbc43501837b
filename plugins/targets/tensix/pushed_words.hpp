// SPDX-License-Identifier: Apache-2.0
// The queue between a processor that pushes instructions and what expands them.
#pragma once

#include "latencies.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace buda::tensix {

struct PushedWord {
  std::uint32_t word = 0, from = 0;  // `from`: the address of the instruction that pushed it
  Cycle at = 0;
};

class PushedWords {
 public:
  static constexpr std::size_t kMost = 32;

  // Up to kMost words wait.
  explicit PushedWords(std::size_t depth) : depth_(depth) {}

  bool has_room() const { return waiting_ < depth_; }
  // When there came to be room for the next word.
  Cycle room_since() const { return pushed_ < depth_ ? 0 : left_[(pushed_ - depth_) % kLeft]; }
  void push(std::uint32_t word, std::uint32_t from = 0, Cycle at = 0) {
    // One by one, as they are read soon after.
    PushedWord& place = words_[pushed_++ % kMost];
    place.word = word;
    place.from = from;
    place.at = at;
    ++waiting_;
  }
  // Pushes words as long as there is room and word_at(number, word) is true, a cycle apart at least, the first at `at` at the earliest and
  // by the instruction at `from`. Gives how many; `at` becomes the time of the last.
  template <class WordAt>
  std::size_t push_run(WordAt word_at, std::uint32_t from, Cycle& at) {
    std::size_t count = 0;
    Cycle earliest = at;
    for (std::uint32_t word = 0; has_room() && word_at(count, word); ++count) {
      at = std::max(earliest, room_since());
      push(word, from + 4 * static_cast<std::uint32_t>(count), at);
      earliest = at + 1;
    }
    return count;
  }

  std::size_t waiting() const { return waiting_; }
  // The first of those that wait is number 0.
  const PushedWord& operator[](std::size_t number) const { return words_[(pushed_ - waiting_ + number) % kMost]; }
  // The first, which stays valid until the next push.
  const PushedWord& take() {
    const PushedWord& first = (*this)[0];
    --waiting_;
    return first;
  }
  // The next one of those that had not left: a word may leave before it is taken, as far as time is concerned.
  void leave(Cycle at) { left_[taken_++ % kLeft] = at; }
  std::uint64_t left() const { return taken_; }  // how many have

 private:
  static constexpr std::size_t kLeft = 64;

  std::size_t depth_, waiting_ = 0;
  std::array<PushedWord, kMost> words_ = {};  // at their numbers
  std::uint64_t pushed_ = 0, taken_ = 0;
  std::array<Cycle, kLeft> left_ = {};  // when, by number
};

}  // namespace buda::tensix
