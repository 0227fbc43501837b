// SPDX-License-Identifier: Apache-2.0
// One processor of a core, executing instruction by instruction.
//
// L1 and the processor's own memory are accessed directly; everything else goes to a Bus, which may answer that the processor has to wait:
// then it stands before that instruction until it runs again. Instructions are decoded once per page of 4 KiB; a store into a page that was
// decoded is an error, since the hardware's instruction cache would not see it. pipeline.hpp says how much time passes.
#pragma once

#include "../checks.hpp"
#include "pipeline.hpp"

#include <buda/isa/riscv.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buda::tensix::riscv {

using isa::riscv::Instruction;
using isa::riscv::Operation;

enum class Access : std::uint8_t {
  done,
  waits,  // nothing happened; try again later
  later,  // the same: others have to come first, for whom it is earlier
  fault,  // Bus::fault says what is wrong
};

// What a processor reaches beside L1 and its own memory. Only whole, aligned words. `time` is the cycle of the access; of one that is done
// it becomes the cycle in which a loaded value can be used, or in which a store or push was taken.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual Access load(std::uint32_t address, std::uint32_t& value, Cycle& time) = 0;
  virtual Access store(std::uint32_t address, std::uint32_t value, Cycle& time) = 0;
  // Of instructions that follow each other, those up to the first that pushes no word, a cycle apart at least: how many words were taken,
  // and when the last of them was. What is returned concerns the one after them; `done` where there is none.
  struct Pushed {
    std::size_t count = 0;
    Access next = Access::done;
  };
  virtual Pushed push(std::span<const Instruction> code, Cycle& time) = 0;
  // Of the last access that was one: a sentence without a full stop.
  virtual std::string fault() const = 0;
  // Whether the processor may access this part of L1, and whether it goes on after what a chip leaves undefined. Where not, `fault` says
  // why.
  virtual bool permits(std::uint32_t address, std::uint32_t bytes, bool writes) = 0;
  virtual bool tolerates(Check check, const std::string& what) = 0;
};

inline constexpr std::uint32_t kOwnMemory = 0xffb00000u;

enum class Stop : std::uint8_t {
  budget,
  waits,
  fault,
  halted,
  ended,  // in a loop that does nothing
};

class Processor {
 public:
  // Bus and L1 outlive the processor. `own_bytes` of its own memory begin at kOwnMemory.
  Processor(Bus& bus, std::span<std::uint8_t> l1, std::size_t own_bytes);

  void reset(std::uint32_t pc);
  // Executes up to `most` instructions. Those that reach L1 are executed up to cycle `until`, which `limit` may make earlier meanwhile;
  // others a little further.
  Stop run(std::uint64_t most, Cycle until = kNever);
  Cycle until() const { return until_; }
  void limit(Cycle until) { until_ = std::min(until_, until); }

  std::uint32_t pc() const { return pc_; }
  std::uint32_t reg(unsigned number) const { return x_[number]; }
  std::uint64_t executed() const { return executed_; }
  std::span<const std::uint8_t> l1() const { return l1_; }
  // That of the next instruction; and of the last store to L1.
  Cycle cycle() const { return executed_ + stalls_; }
  Cycle stored_at() const { return stored_at_; }
  // After Stop::fault: a sentence without a full stop.
  const std::string& fault() const { return fault_; }
  // Whether this page of L1 was executed.
  bool has_code(std::uint32_t address) const { return address / kPage < pages_.size() && pages_[address / kPage] != nullptr; }

 private:
  static constexpr std::uint32_t kPage = 4096;
  using Page = std::array<Instruction, kPage / 4>;

  const Instruction* fetch();
  Stop failed(std::string what);
  Stop bus_stop(Access access);
  std::uint8_t* direct(std::uint32_t address, std::uint32_t bytes);
  Cycle cycles_of(const Instruction& i) const;
  bool is_allowed(std::string_view does, std::string_view where, std::uint32_t& address, std::uint32_t bytes, Stop& stop);
  bool load(const Instruction& i, Stop& stop);
  bool store(const Instruction& i, Stop& stop);

  Bus& bus_;
  std::span<std::uint8_t> l1_;
  std::vector<std::uint8_t> own_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::array<std::uint32_t, 32> x_ = {};
  std::uint32_t pc_ = 0;
  std::uint64_t executed_ = 0;
  Cycle stalls_ = 0, until_ = kNever, stored_at_ = 0;
  Pipeline pipeline_;
  std::string fault_;
};

}  // namespace buda::tensix::riscv
