// SPDX-License-Identifier: Apache-2.0
// The transfer function of each instruction, and the iteration.
#include <buda/kernels/programs/known_bits.hpp>

#include <bit>
#include <cstring>
#include <utility>

namespace buda::kernels {
namespace {

using isa::riscv::Instruction;
using O = isa::riscv::Operation;

constexpr KnownBits constant(std::uint32_t value) { return {~0u, value}; }
constexpr KnownBits bits(std::uint32_t mask, std::uint32_t value) { return {mask, value & mask}; }
KnownBits immediate(const Instruction& i) { return constant(static_cast<std::uint32_t>(i.immediate)); }

KnownBits sum(KnownBits a, KnownBits b) {
  // Without a carry a sum is what `or` gives.
  if (((~a.mask | a.value) & (~b.mask | b.value)) == 0) return bits(a.mask & b.mask, a.value | b.value);
  // Otherwise the bits below the first that is not known.
  const int low = std::countr_one(a.mask & b.mask);
  return bits(low >= 32 ? ~0u : (1u << low) - 1, a.value + b.value);
}
KnownBits both(KnownBits a, KnownBits b) { return bits((a.mask & b.mask) | (a.mask & ~a.value) | (b.mask & ~b.value), a.value & b.value); }
KnownBits either(KnownBits a, KnownBits b) { return bits((a.mask & b.mask) | a.value | b.value, a.value | b.value); }

KnownBits shifted(O operation, KnownBits a, KnownBits by) {
  if (!by.all()) return {};
  const unsigned n = by.value & 31;
  if (operation == O::slli || operation == O::sll) return bits(a.mask << n | ((1u << n) - 1), a.value << n);
  const auto arithmetic = [n](std::uint32_t v) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(v) >> n); };
  if (operation == O::srai || operation == O::sra) return bits(arithmetic(a.mask), arithmetic(a.value));
  return bits(~(~a.mask >> n), a.value >> n);
}

// What an instruction leaves in its destination; nothing known of those that are not listed.
KnownBits result(const Instruction& i, std::uint32_t pc, const KnownState& state) {
  const KnownBits a = state.registers[i.rs1];
  const KnownBits b = i.operation >= O::addi && i.operation <= O::srai ? immediate(i) : state.registers[i.rs2];
  switch (i.operation) {
    case O::lui:
      return immediate(i);
    case O::auipc:
      return constant(pc + static_cast<std::uint32_t>(i.immediate));
    case O::jal:
    case O::jalr:
      return constant(pc + 4);
    case O::lbu:
      return bits(~0xffu, 0);
    case O::lhu:
      return bits(~0xffffu, 0);
    case O::addi:
    case O::add:
      return sum(a, b);
    case O::sub:
      return a.all() && b.all() ? constant(a.value - b.value) : KnownBits{};
    case O::andi:
    case O::and_:
      return both(a, b);
    case O::ori:
    case O::or_:
      return either(a, b);
    case O::xori:
    case O::xor_:
      return bits(a.mask & b.mask, a.value ^ b.value);
    case O::slli:
    case O::sll:
    case O::srli:
    case O::srl:
    case O::srai:
    case O::sra:
      return shifted(i.operation, a, b);
    case O::slti:
    case O::sltiu:
    case O::slt:
    case O::sltu:
      return bits(~1u, 0);
    case O::mul:
      return a.all() && b.all() ? constant(a.value * b.value) : KnownBits{};
    default:
      return {};
  }
}

bool writes_register(O o) {
  return o == O::lui || o == O::auipc || o == O::jal || o == O::jalr || (o >= O::lb && o <= O::lhu) || (o >= O::addi && o <= O::remu);
}

// Registers that a function may change for its caller: ra, t0 to t6, and a0 to a7.
constexpr std::uint32_t kCallerSaved = 1u << 1 | 7u << 5 | 255u << 10 | 15u << 28;

class Analysis {
 public:
  explicit Analysis(const Executable& program) : program_(program), states_(program.code.size() / 4) {}

  std::vector<std::optional<KnownState>> run(std::span<const std::uint32_t> functions) {
    arrive(program_.entry, unknown());
    work();
    if (jumps_) {
      for (std::size_t at = 0; at < states_.size(); ++at) arrive(word(at), unknown());
      work();
    }
    for (std::uint32_t address : functions)
      if (!is_reached(address)) arrive(address, unknown());
    work();
    return std::move(states_);
  }

 private:
  static KnownState unknown() {
    KnownState s;
    s.registers[0] = constant(0);
    return s;
  }

  std::uint32_t word(std::size_t at) const {
    std::uint32_t w;
    std::memcpy(&w, program_.code.data() + 4 * at, 4);
    return w;
  }
  bool is_code(std::uint32_t address) const {
    return address % 4 == 0 && address >= program_.code_address && (address - program_.code_address) / 4 < states_.size();
  }
  bool is_reached(std::uint32_t address) const { return !is_code(address) || states_[(address - program_.code_address) / 4].has_value(); }

  // A path leads here with this state.
  void arrive(std::uint32_t address, const KnownState& with) {
    if (!is_code(address)) return;
    const std::size_t at = (address - program_.code_address) / 4;
    auto& state = states_[at];
    if (!state) {
      state = with;
    } else {
      const KnownState before = *state;
      for (std::size_t r = 0; r < before.registers.size(); ++r) state->registers[r] = joined(before.registers[r], with.registers[r]);
      for (std::size_t r = 0; r < before.loop.size(); ++r) state->loop[r] = joined(before.loop[r], with.loop[r]);
      if (*state == before) return;
    }
    waiting_.push_back(at);
  }
  static KnownBits joined(KnownBits a, KnownBits b) { return bits(a.mask & b.mask & ~(a.value ^ b.value), a.value); }

  void work() {
    while (!waiting_.empty()) {
      const std::size_t at = waiting_.back();
      waiting_.pop_back();
      step(at);
    }
  }

  void step(std::size_t at) {
    const std::uint32_t pc = program_.code_address + static_cast<std::uint32_t>(4 * at);
    const Instruction i = isa::riscv::decode(word(at));
    KnownState state = *states_[at];
    if (i.operation == O::sw) {
      const KnownBits address = address_of(i, state);
      if (address.all() && address.value - isa::kLoopWords < 4 * isa::kLoopWordCount)
        state.loop[(address.value - isa::kLoopWords) / 4] = state.registers[i.rs2];
    }
    if (i.rd != 0 && writes_register(i.operation)) state.registers[i.rd] = result(i, pc, *states_[at]);
    const std::uint32_t target = pc + static_cast<std::uint32_t>(i.immediate);
    if (i.operation == O::jal) {
      arrive(target, state);
      if (i.rd != 0) arrive(pc + 4, after_call(state));
    } else if (i.operation == O::jalr) {
      if (i.rd != 0) arrive(pc + 4, after_call(state));
      jumps_ = jumps_ || i.rs1 != 1;
    } else if (i.operation != O::ebreak && i.operation != O::illegal) {
      if (i.operation >= O::beq && i.operation <= O::bgeu) arrive(target, state);
      arrive(pc + 4, state);
    }
  }

  static KnownState after_call(KnownState state) {
    for (std::size_t r = 0; r < 32; ++r)
      if ((kCallerSaved >> r & 1) != 0) state.registers[r] = {};
    state.loop = {};
    return state;
  }

  const Executable& program_;
  std::vector<std::optional<KnownState>> states_;
  std::vector<std::size_t> waiting_;
  bool jumps_ = false;  // to addresses that are computed, which are then words of the program
};

}  // namespace

KnownBits address_of(const Instruction& instruction, const KnownState& state) {
  return sum(state.registers[instruction.rs1], immediate(instruction));
}

std::vector<std::optional<KnownState>> known_states(const Executable& program, std::span<const std::uint32_t> functions) {
  return Analysis(program).run(functions);
}

}  // namespace buda::kernels
