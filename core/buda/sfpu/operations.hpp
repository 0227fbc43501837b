// SPDX-License-Identifier: Apache-2.0
// Between text and registers: instructions on values, of which there are as many as it takes.
#pragma once

#include <buda/sfpu/program.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::sfpu {

// Below 16: a register of the vector unit, which is only read. From 16 on: a value.
using ValueId = std::uint32_t;
inline constexpr ValueId kZero = 9, kOne = 10, kMinusOne = 11, kFirstValue = 16, kNoValue = 0xffffffffu;

struct Operation {
  numerics::VectorInstruction instruction;  // its registers are not set
  ValueId d = kNoValue, c = kNoValue, b = kNoValue, a = kNoValue;
  bool reads_d = false;  // changes d rather than makes it
  std::uint32_t line = 0;
};

struct Operations {
  std::vector<Operation> list;
  std::size_t parameters = 0;  // values kFirstValue, … are there at the beginning
  ValueId values = kFirstValue;
  ValueId result = kNoValue;
  std::string file;
};

Result<Operations> lower(const Library& library, const Function& function, const Constants& constants);
// Gives each value a register from where it is made to where it is read last.
Result<Program> allocate(const Operations& operations);

}  // namespace buda::sfpu
