// Expanding words of the queue.
#include "frontend.hpp"

#include "fields.hpp"

#include <algorithm>

namespace buda::tensix {
namespace {

const NamedOpcode kMop("MOP"), kMopConfig("MOP_CFG"), kReplayPart("REPLAY"), kNop("NOP");

bool is_nothing(std::uint32_t word) { return kNop.is(word); }

}  // namespace

bool Frontend::configure(std::size_t index, std::uint32_t word) {
  if (index >= loop_.size()) return false;
  loop_[index] = word;
  return true;
}

// Most words stand for themselves.
bool Frontend::expand_next() {
  static const auto kExpands = [] {
    std::array<bool, 256> codes = {};
    for (const char* name : {"MOP", "MOP_CFG", "REPLAY"}) codes[isa::find_opcode(name)->code] = true;
    return codes;
  }();
  while (at_ == count_) {
    if (waiting_ == 0) return false;
    const Pushed& pushed = queue_[(pushed_ - waiting_) % kMostWords];
    --waiting_;
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

// When a word that was just expanded leaves the queue, and its instructions come out.
void Frontend::take(const Pushed& pushed, bool loop) {
  started_ = std::max(pushed.at + latency::kFrontend, free_ + (after_loop_ && !loop ? 1 : 0));
  free_ = started_ + std::max<Cycle>(count_, 1);
  after_loop_ = loop;
  Cycle& between = between_[taken_ % kBetween];
  const Cycle left = std::max(pushed.at + 1, between);
  between = std::max(left + 1, gate_before_);
  left_[taken_ % kLeft] = left;
  ++taken_;
}

void Frontend::expand(std::uint32_t word) {
  static const isa::Field kMaskHigh = kMopConfig.field("mask_high"), kTemplate = kMop.field("template");
  if (kMopConfig.is(word)) {
    mask_high_ = get(word, kMaskHigh);
  } else if (!kMop.is(word)) {
    replayed(word);
  } else if (get(word, kTemplate) == 0) {
    expand_masked(word);
  } else {
    expand_nested();
  }
}

void Frontend::emit(std::uint32_t word) {
  if (!is_nothing(word)) replayed(word);
}

void Frontend::expand_masked(std::uint32_t word) {
  static const isa::Field kMaskLow = kMop.field("mask_low"), kCount = kMop.field("count");
  const bool has_b = (loop_[1] & 1) != 0, has_more = (loop_[1] & 2) != 0;
  std::uint32_t mask = mask_high_ << 16 | get(word, kMaskLow);
  for (std::uint32_t i = 0; i <= get(word, kCount); ++i, mask >>= 1) {
    if ((mask & 1) != 0) {
      emit(loop_[7]);
      if (has_b) emit(loop_[8]);
      continue;
    }
    for (std::size_t k = 3; k < (has_more ? 7u : 4u); ++k) emit(loop_[k]);
    if (has_b) emit(loop_[2]);
  }
}

void Frontend::expand_nested() {
  const std::uint32_t outer = loop_[0] & 127, before = loop_[2], after = loop_[3], after2 = loop_[4], inner_last = loop_[7],
                      outer_last = loop_[8];
  const bool alternates = !is_nothing(loop_[6]);
  const std::uint32_t inner = (loop_[1] & 127) * (alternates ? 2 : 1);
  if (outer == 1 && inner == 0 && is_nothing(before) && !is_nothing(after)) {
    fault_ =
        "MOP has an outer loop of one round, no inner loop and no instruction before it, but one after it, for which the hardware runs "
        "129 rounds";
    return;
  }
  for (std::uint32_t i = 1; i <= outer; ++i) {
    emit(before);
    for (std::uint32_t k = 1; k <= inner; ++k)
      emit(k < inner ? loop_[alternates && k % 2 == 0 ? 6 : 5] : i < outer ? outer_last : inner_last);
    emit(after);
    if (!is_nothing(after)) emit(after2);
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
