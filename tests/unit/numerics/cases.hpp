// SPDX-License-Identifier: Apache-2.0
// Operations on drawn operands, and a digest of what an implementation makes of them: implementations with one digest have the same bits.
#pragma once

#include <buda/numerics/kernels.hpp>
#include <buda/numerics/matrix_unit.hpp>
#include <buda/numerics/pack.hpp>
#include <buda/numerics/vector_functions.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace buda::numerics::cases {

using Words = std::vector<std::uint32_t>;

// What is compared: each takes words and leaves words.
struct Implementation {
  std::string name;
  // dest (rows x 32) += b (rows x 16) * a (16 x 32)
  std::function<void(Multiplication m, const Words& a, const Words& b, Words& dest)> mvmul;
  std::function<void(Multiplication m, const Words& a, const Words& b, Words& dest)> elwmul;
  std::function<void(Multiplication m, const Words& a, const Words& b, Words& dest, bool accumulates)> elwadd;
  // Gives a * b + c.
  std::function<Words(const Words& a, const Words& b, const Words& c)> mad;
};

// Number by number, with the kernels for any processor, and with those for vector instructions as far as this one has them.
Implementation scalar_definition();
std::vector<Implementation> implementations();

// The formats and phases there are; `operation` is a member of Implementation.
struct Case {
  std::string operation;
  Multiplication m;
  std::string name() const;
};
std::vector<Case> all_cases();

// Of about `count` results, a multiple of 1024.
std::uint64_t digest(const Case& c, const Implementation& how, std::uint64_t seed, std::size_t count);

// What packers make of `count` numbers drawn, a multiple of 16: all configurations in turn. `pack` as pack_group.
struct PackCase {
  Packing packing;
  std::string name() const;
};
std::vector<PackCase> pack_cases();
using Pack =
    std::function<std::uint8_t(const Packing& packing, std::span<const std::uint32_t, 16> words, std::span<std::uint32_t, 16> datums)>;
std::uint64_t pack_digest(const PackCase& c, const Pack& pack, std::uint64_t seed, std::size_t count);

// Of `count` sums in L1.
using Sum = std::function<std::uint32_t(DataFormat format, std::uint32_t there, std::uint32_t arriving)>;
std::uint64_t sum_digest(DataFormat format, const Sum& sum, std::uint64_t seed, std::size_t count);

}  // namespace buda::numerics::cases
