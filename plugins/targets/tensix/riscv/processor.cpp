// SPDX-License-Identifier: Apache-2.0
// Fetching and executing.
#include "processor.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

namespace buda::tensix::riscv {

using O = Operation;

namespace {

std::int32_t as_signed(std::uint32_t v) { return static_cast<std::int32_t>(v); }
std::uint32_t as_unsigned(std::int32_t v) { return static_cast<std::uint32_t>(v); }
std::uint32_t upper_half(std::int64_t product) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32); }

// Of a division by zero, and of one that overflows, the manual says what comes out.
std::uint32_t quotient(std::uint32_t a, std::uint32_t b) {
  if (b == 0) return ~0u;
  if (as_signed(a) == std::numeric_limits<std::int32_t>::min() && as_signed(b) == -1) return a;
  return as_unsigned(as_signed(a) / as_signed(b));
}
std::uint32_t remainder(std::uint32_t a, std::uint32_t b) {
  if (b == 0) return a;
  if (as_signed(a) == std::numeric_limits<std::int32_t>::min() && as_signed(b) == -1) return 0;
  return as_unsigned(as_signed(a) % as_signed(b));
}

// Of operations on two numbers, the second of which may be an immediate.
std::uint32_t computed(Operation o, std::uint32_t a, std::uint32_t b) {
  switch (o) {
    case Operation::addi:
    case Operation::add:
      return a + b;
    case Operation::sub:
      return a - b;
    case Operation::slti:
    case Operation::slt:
      return as_signed(a) < as_signed(b) ? 1 : 0;
    case Operation::sltiu:
    case Operation::sltu:
      return a < b ? 1 : 0;
    case Operation::xori:
    case Operation::xor_:
      return a ^ b;
    case Operation::ori:
    case Operation::or_:
      return a | b;
    case Operation::andi:
    case Operation::and_:
      return a & b;
    case Operation::slli:
    case Operation::sll:
      return a << (b & 31);
    case Operation::srli:
    case Operation::srl:
      return a >> (b & 31);
    case Operation::srai:
    case Operation::sra:
      return as_unsigned(as_signed(a) >> (b & 31));
    case Operation::mul:
      return a * b;
    case Operation::mulh:
      return upper_half(std::int64_t{as_signed(a)} * as_signed(b));
    case Operation::mulhsu:
      return upper_half(std::int64_t{as_signed(a)} * b);
    case Operation::mulhu:
      return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
    case Operation::div:
      return quotient(a, b);
    case Operation::divu:
      return b == 0 ? ~0u : a / b;
    case Operation::rem:
      return remainder(a, b);
    default:
      return b == 0 ? a : a % b;
  }
}

bool is_taken(Operation o, std::uint32_t a, std::uint32_t b) {
  switch (o) {
    case Operation::beq:
      return a == b;
    case Operation::bne:
      return a != b;
    case Operation::blt:
      return as_signed(a) < as_signed(b);
    case Operation::bge:
      return as_signed(a) >= as_signed(b);
    case Operation::bltu:
      return a < b;
    default:
      return a >= b;
  }
}

// An instruction whose fields for registers name none that it does not read or write.
Instruction with_own_registers(Instruction i) {
  const O o = i.operation;
  const bool branches = o >= O::beq && o <= O::bgeu, stores = o >= O::sb && o <= O::sw;
  if (o <= O::jal || o >= O::fence) i.rs1 = 0;
  if (!branches && !stores && (o < O::add || o >= O::fence)) i.rs2 = 0;
  if (branches || stores || o <= O::push || o >= O::fence) i.rd = 0;
  return i;
}

// The magnitude of the dividend decides, in a way that the documents leave open: here by its bits.
Cycle division_cycles(Operation o, std::uint32_t a, std::uint32_t b) {
  const bool is_signed = o == O::div || o == O::rem;
  if (b <= 1 || (is_signed && a == 0x80000000u && b == ~0u)) return latency::kTrivialDivide;
  const std::uint32_t magnitude = is_signed && as_signed(a) < 0 ? 0u - a : a;
  return std::clamp<Cycle>(static_cast<Cycle>(std::bit_width(magnitude)) + 1, latency::kShortestDivide, latency::kLongestDivide);
}

std::uint32_t size_of(Operation o) {
  return o == Operation::lw || o == Operation::sw ? 4 : o == Operation::lh || o == Operation::lhu || o == Operation::sh ? 2 : 1;
}

[[gnu::noinline]] void decode_first(Instruction& to, const std::uint8_t* from) {
  std::uint32_t word;
  std::memcpy(&word, from, 4);
  to = with_own_registers(isa::riscv::decode(word));
}

}  // namespace

Processor::Processor(Bus& bus, std::span<std::uint8_t> l1, std::size_t own_bytes)
    : bus_(bus), l1_(l1), own_(own_bytes), pages_(l1.size() / kPage) {}

void Processor::reset(std::uint32_t pc) {
  x_ = {};
  pc_ = pc;
  executed_ = 0;
  stalls_ = stored_at_ = 0;
  pipeline_ = {};
  fault_.clear();
  std::fill(own_.begin(), own_.end(), std::uint8_t{0});
  for (auto& page : pages_) page = nullptr;
}

Stop Processor::failed(std::string what) {
  fault_ = std::move(what);
  return Stop::fault;
}

Stop Processor::bus_stop(Access access) {
  return access == Access::waits ? Stop::waits : access == Access::later ? Stop::budget : failed(bus_.fault());
}

// The instruction at the program counter, or null where there is none.
inline const Instruction* Processor::fetch() {
  if (pc_ % 4 != 0 || pc_ / kPage >= pages_.size()) return nullptr;
  auto& page = pages_[pc_ / kPage];
  if (page == nullptr) page = std::make_unique<Page>();
  Instruction& i = (*page)[pc_ % kPage / 4];
  if (i.operation == Operation::undecoded) decode_first(i, l1_.data() + pc_);
  return &i;
}

// The bytes where they are L1 or the processor's own.
std::uint8_t* Processor::direct(std::uint32_t address, std::uint32_t bytes) {
  if (address < l1_.size() && l1_.size() - address >= bytes) return l1_.data() + address;
  if (address >= kOwnMemory && address - kOwnMemory < own_.size() && own_.size() - (address - kOwnMemory) >= bytes)
    return own_.data() + (address - kOwnMemory);
  return nullptr;
}

// An address that is no multiple of the size, and parts of L1 that are not for this processor, end the run or are put up with: then the
// lowest bits of the address do not count.
bool Processor::is_allowed(std::string_view does, std::string_view where, std::uint32_t& address, std::uint32_t bytes, Stop& stop) {
  if (address % bytes != 0 && !bus_.tolerates(Check::alignment, cat("it ", does, ' ', bytes, " bytes ", where, ' ', hex_text(address),
                                                                    ", which is not a multiple of ", bytes))) {
    stop = failed(bus_.fault());
    return false;
  }
  address &= ~(bytes - 1);
  if (address < l1_.size() && !bus_.permits(address, bytes, does == "stores")) {
    stop = failed(bus_.fault());
    return false;
  }
  return true;
}

// False, and why, where the processor cannot go on.
bool Processor::load(const Instruction& i, Stop& stop) {
  const std::uint32_t bytes = size_of(i.operation);
  std::uint32_t address = x_[i.rs1] + as_unsigned(i.immediate), value = 0;
  if (!is_allowed("loads", "from", address, bytes, stop)) return false;
  const bool own = address >= kOwnMemory && address - kOwnMemory < own_.size();
  if (!own) stalls_ += pipeline_.load_slot(cycle()) - cycle();
  const Cycle at = cycle();
  Cycle time = at;
  if (const std::uint8_t* from = direct(address, bytes)) {
    if (!own && time > until_) {
      stop = Stop::budget;
      return false;
    }
    std::memcpy(&value, from, bytes);
    time += own ? latency::kOwnLoad : latency::kL1Load;
  } else {
    if (bytes != 4) {
      stop = failed(
          cat("it loads ", bytes, bytes == 1 ? " byte" : " bytes", " from ", hex_text(address), ", where only whole words can be read"));
      return false;
    }
    if (const Access access = bus_.load(address, value, time); access != Access::done) {
      stop = bus_stop(access);
      return false;
    }
  }
  if (i.operation == Operation::lb) value = as_unsigned(std::int32_t{static_cast<std::int8_t>(value)});
  if (i.operation == Operation::lh) value = as_unsigned(std::int32_t{static_cast<std::int16_t>(value)});
  if (i.rd != 0) x_[i.rd] = value;
  if (!own) pipeline_.take_load_slot(time - 1);
  pipeline_.load(at, executed_, i.rd, time);
  return true;
}

bool Processor::store(const Instruction& i, Stop& stop) {
  const std::uint32_t bytes = size_of(i.operation), value = x_[i.rs2];
  std::uint32_t address = x_[i.rs1] + as_unsigned(i.immediate);
  if (!is_allowed("stores", "to", address, bytes, stop)) return false;
  if (std::uint8_t* to = direct(address, bytes)) {
    if (has_code(address) &&
        !bus_.tolerates(Check::code_overwritten, cat("it stores to ", hex_text(address), ", among instructions that were executed"))) {
      stop = failed(bus_.fault());
      return false;
    }
    const bool own = address >= kOwnMemory;
    if (!own && cycle() > until_) {
      stop = Stop::budget;
      return false;
    }
    std::memcpy(to, &value, bytes);
    if (own) return true;
    stored_at_ = pipeline_.store_slot(cycle());
    stalls_ += stored_at_ - cycle();
    pipeline_.take_store_slot(stored_at_);
    return true;
  }
  if (bytes != 4) {
    stop = failed(
        cat("it stores ", bytes, bytes == 1 ? " byte" : " bytes", " to ", hex_text(address), ", where only whole words can be written"));
    return false;
  }
  Cycle time = cycle();
  const Access access = bus_.store(address, value, time);
  if (access != Access::done) {
    stop = bus_stop(access);
    return false;
  }
  stalls_ += time - cycle();
  return true;
}

// How long it keeps the integer unit busy.
Cycle Processor::cycles_of(const Instruction& i) const {
  if (i.operation < O::mul || i.operation >= O::fence) return 1;
  return i.operation < O::div ? latency::kMultiply : division_cycles(i.operation, x_[i.rs1], x_[i.rs2]);
}

Stop Processor::run(std::uint64_t most, Cycle until) {
  constexpr Cycle kAhead = 64;  // that what concerns nobody else may be executed beyond `until`
  until_ = until;
  if (until != kNever) most = std::min<std::uint64_t>(most, (until > cycle() ? until - cycle() : 0) + kAhead);
  Stop stop = Stop::budget;
  for (const std::uint64_t end = executed_ + most; executed_ != end; ++executed_) {
    const Instruction* i = fetch();
    if (i == nullptr) return failed(cat("it executes ", hex_text(pc_), ", where no code can be"));
    std::uint32_t next = pc_ + 4;
    const O o = i->operation;
    const bool busy = pipeline_.busy(cycle());
    if (busy) stalls_ += pipeline_.enter(cycle(), executed_, i->rs1, i->rs2, i->rd, cycles_of(*i)) - cycle();
    if (o == O::push) {
      // Straight-line code pushes one word after the other.
      const std::uint64_t behind = (kPage - pc_ % kPage) / 4;  // on this page
      Cycle time = cycle();
      const Bus::Pushed pushed = bus_.push({i, busy ? 1 : std::min(behind, end - executed_)}, time);
      if (pushed.count > 0) {
        executed_ += pushed.count - 1;
        stalls_ += time - cycle();
        next = pc_ + 4 * static_cast<std::uint32_t>(pushed.count);
      }
      if (pushed.next != Access::done) {
        if (pushed.count > 0) {
          pc_ = next;
          ++executed_;
        }
        return bus_stop(pushed.next);
      }
    } else if (o >= O::add) {
      if (o >= O::mul) stalls_ += cycles_of(*i) - 1;
      if (o >= O::fence) {
        if (o == O::ebreak) return Stop::halted;
      } else if (i->rd != 0) {
        x_[i->rd] = computed(o, x_[i->rs1], x_[i->rs2]);
      }
    } else if (o >= O::addi) {
      if (i->rd != 0) x_[i->rd] = computed(o, x_[i->rs1], as_unsigned(i->immediate));
    } else if (o >= O::sb) {
      if (!store(*i, stop)) return stop;
    } else if (o >= O::lb) {
      if (!load(*i, stop)) return stop;
    } else if (o >= O::beq) {
      const bool taken = is_taken(o, x_[i->rs1], x_[i->rs2]);
      if (taken) next = pc_ + as_unsigned(i->immediate);
      if (taken != (i->immediate < 0)) stalls_ += latency::kMispredicted;
    } else if (o == O::lui || o == O::auipc) {
      if (i->rd != 0) x_[i->rd] = as_unsigned(i->immediate) + (o == O::auipc ? pc_ : 0);
    } else if (o == O::jal || o == O::jalr) {
      if (o == O::jal && i->immediate == 0 && i->rd == 0) return Stop::ended;
      const std::uint32_t from = o == O::jal ? pc_ : x_[i->rs1];
      if (i->rd != 0) x_[i->rd] = next;
      next = (from + as_unsigned(i->immediate)) & ~1u;
    } else {
      return failed("it executes a word that is not an instruction of RV32IM");
    }
    pc_ = next;
  }
  return stop;
}

}  // namespace buda::tensix::riscv
