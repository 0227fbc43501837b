// SPDX-License-Identifier: Apache-2.0
// Entry to the maker, and faults.
#include "generator.hpp"

#include "maker.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace buda::judge {

std::string random_netlist(std::uint64_t seed) { return NetlistMaker(seed).run(); }

std::string with_fault(const std::string& text, std::uint64_t seed) {
  Rng rng(seed);
  std::string out = text;
  // Words and numbers of the text.
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t i = 0; i < text.size();) {
    auto part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '$'; };
    std::size_t j = i;
    while (j < text.size() && part(text[j])) ++j;
    if (j > i) words.emplace_back(i, j - i);
    i = std::max(j, i + 1);
  }
  const auto [at, length] = words[static_cast<std::size_t>(rng.below(words.size()))];
  const std::string word = text.substr(at, length);
  const char* names[] = {"Float16", "Bfp8_b", "Int8", "RawUInt32", "matmul", "nop", "in0", "op0",       "out1", "true", "transpose",
                         "queue",   "ram",    "r",    "c",         "None",   "[",   "}",   "intermed0", "dest", "$l"};
  const char* numbers[] = {"0", "1", "2", "3", "7", "31", "64", "1000", "-1", "65536", "2147483647", "99999999999", "0.5", "1e30", "nan"};
  const bool number = parse_double(word).has_value();
  switch (rng.below(5)) {
    case 0:
    case 1:
    case 2: {
      const auto& [there, size] = words[static_cast<std::size_t>(rng.below(words.size()))];
      std::string other = text.substr(there, size);
      if (rng.below(3) == 0) other = names[rng.below(std::size(names))];
      if (number) other = numbers[rng.below(std::size(numbers))];
      return out.replace(at, length, other);
    }
    case 3:
      return out.erase(at, length);
    default: {
      const std::size_t begin = text.rfind('\n', at) + 1, end = std::min(text.find('\n', at), text.size() - 1) + 1;
      if (rng.below(2) == 0) return out.erase(begin, end - begin);
      return out.insert(begin, text.substr(begin, end - begin));
    }
  }
}

}  // namespace buda::judge
