// SPDX-License-Identifier: Apache-2.0
// By names.
#include "instruction_kind.hpp"

#include "fields.hpp"

#include <buda/isa/opcodes.hpp>

#include <initializer_list>
#include <string_view>

namespace buda::tensix {
namespace {

// Bits of STALLWAIT.
constexpr std::uint16_t kTdma = 1, kSync = 2, kPack = 4, kUnpack = 8, kMover = 16, kThCon = 32, kMatrix = 64, kConfig = 128, kVector = 256,
                        kEverything = 511;

class Table {
 public:
  Table() {
    add_shared();
    add_matrix();
    for (std::uint8_t code = kFirstVectorCode; code <= kLastVectorCode; ++code) kinds_[code] = {.unit = Unit::vector, .blocked = kVector};
    for (std::string_view name : {"SFPMAD", "SFPADD", "SFPMUL", "SFPADDI", "SFPMULI", "SFPLUT", "SFPLUTFP32", "SFPSWAP"})
      at(name).latency = latency::kVectorMad;
    at("SFPNOP").fills_gap = true;
    at("SFPSWAP").needs_gap = true;
  }
  const InstructionKind& operator[](std::uint8_t code) const { return kinds_[code]; }

 private:
  InstructionKind& at(std::string_view name) { return kinds_[isa::find_opcode(name)->code]; }
  void set(std::initializer_list<std::string_view> names, InstructionKind kind) {
    for (std::string_view name : names) at(name) = kind;
  }

  void add_shared() {
    InstructionKind k;
    k.blocked = kEverything;
    set({"NOP"}, k);
    k = {.unit = Unit::sync, .waits_for = kForSemaphores, .blocked = kSync, .in_order = true};
    set({"SEMINIT", "SEMPOST", "SEMGET"}, k);
    k.latches = true;
    set({"SEMWAIT"}, k);
    set({"ATGETM", "ATRELM"}, {.unit = Unit::sync, .waits_for = kForMutexes, .blocked = kSync, .in_order = true});
    set({"STALLWAIT"}, {.unit = Unit::misc, .blocked = kSync, .latches = true});  // only the gate is concerned
    k = {.unit = Unit::unpackers, .blocked = kTdma | kUnpack, .in_order = true};
    set({"UNPACR_NOP"}, k);
    k.cycles = latency::kUnpackAddress;
    set({"UNPACR"}, k);
    set({"PACR"}, {.unit = Unit::packers, .blocked = kTdma | kPack});
    set({"SETC16"}, {.unit = Unit::misc, .blocked = kConfig});  // of each thread's own; up to three per cycle
    set({"SETADC", "SETADCXX", "SETADCXY", "SETADCZW", "INCADCXY", "INCADCZW", "ADDRCRXY", "ADDRCRZW", "SETDVALID"},
        {.unit = Unit::misc, .blocked = kTdma});
    set({"XMOV"}, {.unit = Unit::misc, .blocked = kTdma | kMover});
    k = {.unit = Unit::config, .blocked = kConfig, .in_order = true};
    set({"RMWCIB0", "RMWCIB1", "RMWCIB2", "RMWCIB3"}, k);
    k.latency = k.unit_cycles = latency::kWriteConfig;
    set({"WRCFG", "RDCFG"}, k);
    k = {.unit = Unit::scalar, .blocked = kTdma | kThCon, .in_order = true};
    set({"SETDMAREG", "DMANOP"}, k);
    k.cycles = latency::kArithmetic;
    set({"ADDDMAREG", "MULDMAREG", "SUBDMAREG", "CMPDMAREG", "BITWOPDMAREG", "SHIFTDMAREG"}, k);
    k.cycles = latency::kRegisterToConfig;
    set({"REG2FLOP", "FLUSHDMA"}, k);
    k.cycles = latency::kStoreRegister;
    set({"STOREREG"}, k);
  }

  void add_matrix() {
    const InstructionKind one{.unit = Unit::matrix, .blocked = kMatrix};
    set({"SETRWC", "INCRWC", "CLEARDVALID", "GATESRCRST", "SHIFTXA", "ZEROACC", "ZEROSRC", "TRNSPSRCB"}, one);
    InstructionKind k = one;
    k.latency = latency::kMatrix;
    k.reads_a = k.reads_b = true;
    set({"ELWADD", "ELWSUB"}, k);
    k.after_moves = true;
    set({"MVMUL", "DOTPV", "GAPOOL", "GMPOOL", "ELWMUL"}, k);
    k = one;
    k.latency = latency::kMove;
    k.reads_a = true;
    set({"MOVA2D"}, k);
    k.reads_a = false;
    k.reads_b = true;
    set({"MOVB2D", "MOVB2A"}, k);
    k = one;
    k.after_moves = true;
    k.latency = 2;
    set({"MOVD2A", "MOVD2B"}, k);
    k = one;
    k.cycles = k.latency = latency::kShiftB;
    set({"SHIFTXB"}, k);
  }

  std::array<InstructionKind, 256> kinds_ = {};
};

}  // namespace

const InstructionKind& kind_of(std::uint8_t opcode) {
  static const Table table;
  return table[opcode];
}

InstructionKind kind_of_word(std::uint32_t word) {
  static const NamedOpcode kShift("SFPSHFT2");
  static const isa::Field kMode = kShift.field("mod");
  InstructionKind kind = kind_of(static_cast<std::uint8_t>(word >> 24));
  if (kShift.is(word)) kind.needs_gap = get(word, kMode) >= 2 && get(word, kMode) <= 4;
  return kind;
}

}  // namespace buda::tensix
