// SPDX-License-Identifier: Apache-2.0
// What is free of a part of L1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace buda::movers {

class FreeSpace {
 public:
  FreeSpace(std::uint64_t begin, std::uint64_t end);
  // Parts may be taken more than once, and lie outside.
  void take(std::uint64_t address, std::uint64_t bytes);
  // Takes the first bytes of the smallest free part that has so many; nothing where none has.
  std::optional<std::uint64_t> place(std::uint64_t bytes);
  std::uint64_t bytes() const;  // of all parts

 private:
  std::map<std::uint64_t, std::uint64_t> parts_;  // ends by beginnings, multiples of 32
};

}  // namespace buda::movers
