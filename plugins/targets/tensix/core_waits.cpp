// SPDX-License-Identifier: Apache-2.0
// What the threads of a core wait for, when none of them goes on.
#include "core.hpp"
#include "fields.hpp"

#include <buda/base/text.hpp>

namespace buda::tensix {
namespace {

const NamedOpcode kWaitForSemaphore("SEMWAIT"), kUnpackTile("UNPACR");

std::string semaphores_of(const Coprocessor& c, std::uint32_t word) {
  static const isa::Field kSemaphores = kWaitForSemaphore.field("semaphores"), kCondition = kWaitForSemaphore.field("condition");
  std::string text;
  for (std::size_t i = 0; i < c.semaphores.size(); ++i) {
    if ((get(word, kSemaphores) >> i & 1) == 0) continue;
    const bool empty = (get(word, kCondition) & 1) != 0 && c.semaphores[i] == 0;
    if (!empty && c.semaphores[i] < c.semaphore_limits[i]) continue;
    text += cat(text.empty() ? "until semaphore " : ", semaphore ", i, empty ? " is posted" : cat(" falls below ", c.semaphore_limits[i]));
  }
  return text.empty() ? std::string("for semaphores") : text;
}

// The unpacker waits for the matrix unit's thread, and that for the unpacker's.
std::string banks_of(Coprocessor& c, std::uint32_t word) {
  static const isa::Field kUnpacker = kUnpackTile.field("unpacker");
  if (kUnpackTile.is(word)) return cat("until math gives back a bank of Src", get(word, kUnpacker) == 0 ? 'A' : 'B');
  const bool a = c.src_a.to_compute().valid, b = c.src_b.to_compute().valid;
  return cat("until unpack fills a bank of ", a == b ? "SrcA or SrcB" : a ? "SrcB" : "SrcA");
}

}  // namespace

std::string Core::wait_of(std::size_t thread, const StreamName& name_of) const {
  Coprocessor& c = *coprocessor_;
  switch (c.cause(thread)) {
    case kForSemaphores:
      return semaphores_of(c, c.current(thread));
    case kForBanks:
      return banks_of(c, c.current(thread));
    case kForMutexes:
      return "until another thread releases a mutex";
    default:
      break;
  }
  const bool has_ended = turns_.when(thread) == kNever && turns_.cause(thread) == 0;
  // The loop in which a program ends is around the kernel, and so without a place in its sources.
  if (has_ended) return places_ && !places_(thread, processors_[thread]->pc()).empty() ? "in an endless loop" : "";
  if (turns_.cause(thread) != 0) return "for its own instructions";
  if (!polled_[thread]) return "in a loop of its processor";
  const std::size_t stream = *polled_[thread] / kStreamRegisters, reg = *polled_[thread] % kStreamRegisters;
  return cat(reg == kTaken ? "until tiles leave stream " : "until tiles arrive at stream ", stream, " (",
             name_of(static_cast<std::uint32_t>(stream)), ')');
}

std::string Core::waits(const StreamName& name_of) const {
  std::string text, ended;
  for (std::size_t t = 0; t < kThreads; ++t) {
    const std::string wait = wait_of(t, name_of);
    std::string& to = wait.empty() ? ended : text;
    to += cat(to.empty() ? "" : wait.empty() ? ", " : "; ", kThreadNames[t], wait.empty() ? "" : " waits ", wait);
  }
  return ended.empty() ? text : cat(text, text.empty() ? "" : "; ", ended, " ended");
}

}  // namespace buda::tensix
