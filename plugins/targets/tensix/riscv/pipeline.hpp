// SPDX-License-Identifier: Apache-2.0
// When the instructions of a processor are executed.
//
// One enters the integer unit per cycle, in order, when its operands are known. Results of the integer unit are known to the instruction
// that follows at once, and to all others when the instruction leaves the unit for loads and stores, through which all go in order, at
// most eight at a time: behind a load everything waits there. Most instructions meet no load and take one cycle; what Processor has to
// ask then is `busy`.
// Branches are predicted: backward ones as taken, forward ones as not taken (an assumption; jumps are predicted right).
// Source: tt-isa-documentation, WormholeB0, BabyRISCV. Its instruction cache is not modelled.
#pragma once

#include "../latencies.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace buda::tensix::riscv {

class Pipeline {
 public:
  // Whether something is on its way at `now` that an instruction may have to wait for.
  bool busy(Cycle now) const { return now < pending_; }

  // When an instruction that could enter at `now` does, as `number` among all, and keeps the integer unit busy for `cycles`. `rd` is 0
  // where it writes none. Loads tell more later. An instruction may be asked about again, when it could not be executed.
  Cycle enter(Cycle now, std::uint64_t number, std::uint8_t rs1, std::uint8_t rs2, std::uint8_t rd, Cycle cycles);
  // A load that entered at `at`, and whose value is there at `there`.
  void load(Cycle at, std::uint64_t number, std::uint8_t rd, Cycle there);

  // When a load from elsewhere than the processor's own memory can begin: four are on their way at most.
  Cycle load_slot(Cycle now) const { return std::max(now, slots_[next_slot_]); }
  void take_load_slot(Cycle until) {
    slots_[next_slot_] = until;
    next_slot_ = (next_slot_ + 1) % slots_.size();
  }

  // Stores to L1 follow each other.
  Cycle store_slot(Cycle now) const { return std::max(now, stored_); }
  void take_store_slot(Cycle at) { stored_ = at + latency::kL1Store; }

 private:
  Cycle known(std::uint8_t reg, Cycle now) const { return reg == forwarded_ && now == forwarded_at_ ? 0 : known_[reg]; }
  Cycle previous(std::uint64_t number) const { return left_[(number - 1) % left_.size()]; }

  std::array<Cycle, 32> known_ = {};
  std::array<Cycle, 8> left_ = {};  // when the last instructions left, by number
  std::array<Cycle, 4> slots_ = {};
  std::size_t next_slot_ = 0;
  std::uint64_t number_ = ~std::uint64_t{0};  // asked about last
  std::uint8_t forwarded_ = 0;
  Cycle forwarded_at_ = 0, pending_ = 0, stored_ = 0;
};

inline Cycle Pipeline::enter(Cycle now, std::uint64_t number, std::uint8_t rs1, std::uint8_t rs2, std::uint8_t rd, Cycle cycles) {
  // Twice: what is handed on at once is so for one cycle only.
  Cycle at = std::max({now, known(rs1, now), known(rs2, now)});
  at = std::max({at, known(rs1, at), known(rs2, at)});
  Cycle& left = left_[number % left_.size()];  // of the eighth instruction before, unless it is asked about again
  if (number != number_ && left > 0) at = std::max(at, left - 1);
  number_ = number;
  const Cycle alone = at + cycles + 1;
  left = std::max(previous(number) + 1, alone);
  if (left > alone) pending_ = std::max(pending_, left);
  if (rd != 0) {
    known_[rd] = left;
    forwarded_ = rd;
    forwarded_at_ = at + cycles;
  }
  return at;
}

inline void Pipeline::load(Cycle at, std::uint64_t number, std::uint8_t rd, Cycle there) {
  const Cycle leaves = std::max({previous(number) + 1, at + latency::kOwnLoad, there});
  left_[number % left_.size()] = leaves;
  known_[rd] = rd == 0 ? 0 : leaves;
  if (forwarded_ == rd) forwarded_at_ = 0;
  pending_ = std::max(pending_, leaves);
}

}  // namespace buda::tensix::riscv
