// SPDX-License-Identifier: Apache-2.0
// Fields of pushed instructions, by their names in the table of instructions.
#pragma once

#include <buda/isa/opcodes.hpp>

#include <cstdint>
#include <string_view>

namespace buda::tensix {

inline std::uint32_t get(std::uint32_t word, isa::Field field) { return word >> field.low & field.largest(); }

// One instruction of the table. Names are those of the table; one that it does not have is a bug of ours, which any test shows.
class NamedOpcode {
 public:
  explicit NamedOpcode(std::string_view name) : opcode_(isa::find_opcode(name)) {}
  bool is(std::uint32_t word) const { return word >> 24 == opcode_->code; }
  isa::Field field(std::string_view name) const {
    for (const isa::Field& f : opcode_->fields())
      if (f.name == name) return f;
    return {};
  }

 private:
  const isa::Opcode* opcode_;
};

}  // namespace buda::tensix
