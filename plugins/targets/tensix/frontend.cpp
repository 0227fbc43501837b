// SPDX-License-Identifier: Apache-2.0
// Expanding words of the queue.
#include "frontend.hpp"

#include "fields.hpp"

#include <algorithm>

namespace buda::tensix {
namespace {

const NamedOpcode kMop("MOP"), kMopConfig("MOP_CFG"), kReplayPart("REPLAY");

}  // namespace

// Most words stand for themselves.
bool Frontend::expand_next() {
  static const auto kExpands = [] {
    std::array<bool, 256> codes = {};
    for (const char* name : {"MOP", "MOP_CFG", "REPLAY"}) codes[isa::find_opcode(name)->code] = true;
    return codes;
  }();
  while (at_ == count_) {
    if (queue_.waiting() == 0) return false;
    const PushedWord& pushed = queue_.take();
    from_ = pushed.from;
    at_ = 0;
    if (loading_ == 0 && !kExpands[pushed.word >> 24]) {
      alone_ = pushed.word;
      words_ = &alone_;
      count_ = 1;
      take(pushed, false);
      return true;
    }
    expanded_.clear();
    count_ = 0;
    expand(pushed.word);
    if (!fault_.empty()) return false;
    words_ = expanded_.data();
    count_ = expanded_.size();
    take(pushed, kMop.is(pushed.word));
  }
  return true;
}

// When a word leaves the queue, and the instructions come out that it was expanded to.
void Frontend::take(const PushedWord& pushed, bool loop) {
  started_ = std::max(pushed.at + latency::kFrontend, free_ + (after_loop_ && !loop ? 1 : 0));
  free_ = started_ + std::max<Cycle>(count_, 1);
  after_loop_ = loop;
  leave(pushed.at, gate_before_);
}

void Frontend::expand(std::uint32_t word) {
  static const isa::Field kMaskHigh = kMopConfig.field("mask_high");
  if (kMopConfig.is(word)) {
    macro_operations_.mask_high = get(word, kMaskHigh);
  } else if (!kMop.is(word)) {
    replayed(word);
  } else {
    macro_.clear();
    fault_ = macro_operations_.expand(word, macro_);
    for (std::uint32_t w : macro_) replayed(w);
  }
}

void Frontend::replayed(std::uint32_t word) {
  static const isa::Field kLoad = kReplayPart.field("load"), kExecute = kReplayPart.field("execute"), kLength = kReplayPart.field("length"),
                          kStart = kReplayPart.field("start");
  if (loading_ > 0) {
    buffer_[load_at_] = word;
    load_at_ = (load_at_ + 1) % kReplay;
    --loading_;
    if (executes_) expanded_.push_back(word);
    return;
  }
  if (!kReplayPart.is(word)) {
    expanded_.push_back(word);
    return;
  }
  const std::size_t start = get(word, kStart), length = get(word, kLength) == 0 ? 64 : get(word, kLength);
  if (get(word, kLoad) != 0) {
    loading_ = length;
    load_at_ = start;
    executes_ = get(word, kExecute) != 0;
    return;
  }
  for (std::size_t i = 0; i < length; ++i) expanded_.push_back(buffer_[(start + i) % kReplay]);
}

}  // namespace buda::tensix
