// SPDX-License-Identifier: Apache-2.0
// The two loops.
#include "macro_operations.hpp"

#include "fields.hpp"

namespace buda::tensix {
namespace {

bool is_nothing(std::uint32_t word) {
  static const NamedOpcode kNop("NOP");
  return kNop.is(word);
}

void append(std::uint32_t word, std::vector<std::uint32_t>& to) {
  if (!is_nothing(word)) to.push_back(word);
}

}  // namespace

bool MacroOperations::configure(std::size_t index, std::uint32_t word) {
  if (index >= loop_.size()) return false;
  loop_[index] = word;
  return true;
}

std::string MacroOperations::expand(std::uint32_t mop, std::vector<std::uint32_t>& to) const {
  static const isa::Field kTemplate = NamedOpcode("MOP").field("template");
  if (get(mop, kTemplate) != 0) return expand_nested(to);
  expand_masked(mop, to);
  return {};
}

void MacroOperations::expand_masked(std::uint32_t mop, std::vector<std::uint32_t>& to) const {
  static const isa::Field kMaskLow = NamedOpcode("MOP").field("mask_low"), kCount = NamedOpcode("MOP").field("count");
  const bool has_b = (loop_[1] & 1) != 0, has_more = (loop_[1] & 2) != 0;
  std::uint32_t mask = mask_high << 16 | get(mop, kMaskLow);
  for (std::uint32_t i = 0; i <= get(mop, kCount); ++i, mask >>= 1) {
    if ((mask & 1) != 0) {
      append(loop_[7], to);
      if (has_b) append(loop_[8], to);
      continue;
    }
    for (std::size_t k = 3; k < (has_more ? 7u : 4u); ++k) append(loop_[k], to);
    if (has_b) append(loop_[2], to);
  }
}

std::string MacroOperations::expand_nested(std::vector<std::uint32_t>& to) const {
  const std::uint32_t outer = loop_[0] & 127, before = loop_[2], after = loop_[3], after2 = loop_[4], inner_last = loop_[7],
                      outer_last = loop_[8];
  const bool alternates = !is_nothing(loop_[6]);
  const std::uint32_t inner = (loop_[1] & 127) * (alternates ? 2 : 1);
  if (outer == 1 && inner == 0 && is_nothing(before) && !is_nothing(after))
    return "MOP has an outer loop of one round, no inner loop and no instruction before it, but one after it, for which the hardware runs "
           "129 rounds";
  for (std::uint32_t i = 1; i <= outer; ++i) {
    append(before, to);
    for (std::uint32_t k = 1; k <= inner; ++k)
      append(k < inner ? loop_[alternates && k % 2 == 0 ? 6 : 5] : i < outer ? outer_last : inner_last, to);
    append(after, to);
    if (!is_nothing(after)) append(after2, to);
  }
  return {};
}

}  // namespace buda::tensix
