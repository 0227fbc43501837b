// SPDX-License-Identifier: Apache-2.0
// Drawing operands: exponents anywhere, near each other, and at the ends of their range; fractions with few bits, none, or all.
#include "cases.hpp"

#include <buda/base/hash.hpp>
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/numerics/matmul.hpp>

#include <array>
#include <bit>

namespace buda::numerics::cases {
namespace {

constexpr std::size_t kRows = 32;                 // of a drawn product
constexpr std::size_t kResults = kRows * kPanel;  // at once

constexpr std::uint32_t mask_of(Source s) { return s == Source::bf16 ? 0xffff0000u : s == Source::tf32 ? 0xffffe000u : 0x8fffe000u; }
constexpr std::uint32_t mask_of(Dest d) { return d == Dest::bf16 ? 0xffff0000u : d == Dest::fp16 ? 0x8fffe000u : 0xffffffffu; }

// Words of numbers with exponents of so many bits, all drawn in one way.
class Words32 {
 public:
  Words32(Rng& rng, int exponent_bits, std::uint32_t mask)
      : rng_(rng), largest_((1u << exponent_bits) - 1), mask_(mask), way_(rng.below(5)) {}

  std::uint32_t next() {
    const auto sign = static_cast<std::uint32_t>(rng_.below(2)) << 31;
    if (rng_.below(12) == 0) return sign;
    std::uint32_t fraction = static_cast<std::uint32_t>(rng_.next()) & 0x7fffffu;
    const auto kind = rng_.below(16);
    if (kind < 4) fraction &= 0x7c0000u;
    if (kind == 4) fraction = 0;
    if (kind == 5) fraction = 0x7fffffu;
    return (sign | exponent() << 23 | fraction) & mask_;
  }

 private:
  std::uint32_t exponent() {
    const std::uint32_t middle = largest_ / 2;
    switch (way_) {
      case 0:
        return static_cast<std::uint32_t>(rng_.below(largest_ + 1));
      case 1:
        return middle - 4 + static_cast<std::uint32_t>(rng_.below(8));
      case 2:
        return std::array{0u, middle, middle, largest_}[rng_.below(4)];
      case 3:
        return static_cast<std::uint32_t>(rng_.below(6));
      default:
        return largest_ - static_cast<std::uint32_t>(rng_.below(6));
    }
  }

  Rng& rng_;
  std::uint32_t largest_, mask_;
  std::uint64_t way_;
};

Words drawn(Rng& rng, std::size_t count, int exponent_bits, std::uint32_t mask) {
  Words32 source(rng, exponent_bits, mask);
  Words words(count);
  for (std::uint32_t& word : words) word = source.next();
  return words;
}

Words drawn(Rng& rng, std::size_t count, Source s) { return drawn(rng, count, s == Source::fp16 ? 5 : 8, mask_of(s)); }
Words drawn(Rng& rng, std::size_t count, Dest d) { return drawn(rng, count, d == Dest::fp16 ? 5 : 8, mask_of(d)); }

void add(Fnv1a& hash, const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) hash.add(std::uint64_t{words[i]} << 32 | words[i + 1]);
}

Implementation of(const Kernels& kernels, const VectorUnit& unit) {
  Implementation how;
  how.name = kernels.name;
  how.mvmul = [&kernels](Multiplication m, const Words& a, const Words& b, Words& dest) {
    const unsigned phases[] = {m.phase};
    detail::multiply_with(kernels, {m.source, m.dest, phases, kInner}, LeftOperand(b, kInner), RightOperand(a, kPanel), 0, kInner, dest, 1);
  };
  auto elements = [](Multiplication m, const Words& a, const Words& b, Words& dest) {
    return Elementwise{a.data(), b.data(), dest.data(), dest.size(), m.source, m.dest, m.phase};
  };
  how.elwmul = [&kernels, elements](Multiplication m, const Words& a, const Words& b, Words& dest) {
    kernels.elwmul(elements(m, a, b, dest));
  };
  how.elwadd = [&kernels, elements](Multiplication m, const Words& a, const Words& b, Words& dest, bool accumulates) {
    kernels.elwadd(elements(m, a, b, dest), accumulates);
  };
  how.mad = [&unit](const Words& a, const Words& b, const Words& c) {
    Words result(a.size());
    unit.mad(a.data(), b.data(), c.data(), result.data(), result.size());
    return result;
  };
  return how;
}

std::string text(Source s) { return s == Source::bf16 ? "bf16" : s == Source::tf32 ? "tf32" : "fp16"; }
std::string text(Dest d) { return d == Dest::bf16 ? "bf16" : d == Dest::fp16 ? "fp16" : "fp32"; }

}  // namespace

Implementation scalar_definition() {
  Implementation how = of(portable_kernels(), portable_vector_unit());
  how.name = "definition";
  how.mvmul = [](Multiplication m, const Words& a, const Words& b, Words& dest) {
    for (std::size_t i = 0; i < dest.size(); ++i) {
      std::array<std::uint32_t, kInner> column{};
      for (std::size_t k = 0; k < kInner; ++k) column[k] = a[k * kPanel + i % kPanel];
      dest[i] = mvmul(m, column, std::span<const std::uint32_t, kInner>(b.data() + i / kPanel * kInner, kInner), dest[i]);
    }
  };
  how.elwmul = [](Multiplication m, const Words& a, const Words& b, Words& dest) {
    for (std::size_t i = 0; i < dest.size(); ++i) dest[i] = elwmul(m, a[i], b[i], dest[i]);
  };
  how.elwadd = [](Multiplication m, const Words& a, const Words& b, Words& dest, bool accumulates) {
    for (std::size_t i = 0; i < dest.size(); ++i) dest[i] = elwadd(m.source, m.dest, a[i], b[i], accumulates ? dest[i] : 0);
  };
  return how;
}

std::vector<Implementation> implementations() {
  std::vector<Implementation> all = {scalar_definition(), of(portable_kernels(), portable_vector_unit())};
  if (runnable_avx2_kernels() != nullptr) all.push_back(of(*runnable_avx2_kernels(), *runnable_avx2_vector_unit()));
  if (runnable_avx512_kernels() != nullptr) all.push_back(of(*runnable_avx512_kernels(), *runnable_avx512_vector_unit()));
  return all;
}

std::string Case::name() const {
  if (operation == "mad") return operation;
  return cat(operation, "/", text(m.source), "/", text(m.dest), "/", m.phase);
}

std::vector<Case> all_cases() {
  constexpr std::pair<Source, Dest> kForms[] = {{Source::bf16, Dest::bf16}, {Source::tf32, Dest::bf16}, {Source::bf16, Dest::fp32},
                                                {Source::tf32, Dest::fp32}, {Source::fp16, Dest::fp16}, {Source::fp16, Dest::fp32}};
  std::vector<Case> out;
  for (const auto& [source, dest] : kForms) {
    for (const char* operation : {"mvmul", "elwmul"})
      for (unsigned phase = 0; phase < 4; ++phase) out.push_back({operation, {source, dest, phase}});
    out.push_back({"elwadd", {source, dest, 0}});
  }
  out.push_back({"mad", {}});
  return out;
}

std::uint64_t digest(const Case& c, const Implementation& how, std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  Fnv1a hash;
  for (std::size_t done = 0; done < count; done += kResults) {
    if (c.operation == "mad") {
      const Words x = drawn(rng, kResults, Dest::fp32), y = drawn(rng, kResults, Dest::fp32);
      Words z = drawn(rng, kResults, Dest::fp32);
      // In half of the cases near the product, where bits are lost on either side.
      for (std::size_t i = 0; i < kResults; i += 2) {
        const auto e = (x[i] >> 23 & 255) + (y[i] >> 23 & 255) - 127 - 27 + static_cast<std::uint32_t>(rng.below(54));
        if (e - 1 < 254) z[i] = (z[i] & 0x807fffffu) | e << 23;
      }
      add(hash, how.mad(x, y, z));
      continue;
    }
    const bool matrix = c.operation == "mvmul";
    const Words a = drawn(rng, matrix ? kInner * kPanel : kResults, c.m.source),
                b = drawn(rng, matrix ? kRows * kInner : kResults, c.m.source);
    Words dest = rng.below(4) == 0 ? Words(kResults) : drawn(rng, kResults, c.m.dest);
    if (c.operation == "elwadd") {
      how.elwadd(c.m, a, b, dest, rng.below(2) == 0);
    } else {
      (matrix ? how.mvmul : how.elwmul)(c.m, a, b, dest);
    }
    add(hash, dest);
  }
  return hash.value();
}

std::string PackCase::name() const {
  constexpr const char* kIntermediates[] = {"wide", "bf16", "e8m6", "fp16", "e5m6"};
  return cat("pack/", text(packing.dest), "/", kIntermediates[static_cast<std::size_t>(packing.intermediate)], "/",
             format_name(packing.out), "/relu ", static_cast<int>(packing.relu));
}

std::vector<PackCase> pack_cases() {
  struct Path {
    Dest dest;
    Intermediate intermediate;
    std::vector<DataFormat> outs;
  };
  using enum DataFormat;
  const Path paths[] = {{Dest::bf16, Intermediate::bf16, {float16_b, float32, bfp8_b, bfp4_b, bfp2_b}},
                        {Dest::bf16, Intermediate::e8m6, {bfp8_b, bfp4_b}},
                        {Dest::fp16, Intermediate::fp16, {float16, float16_b, float32}},
                        {Dest::fp16, Intermediate::e5m6, {bfp8_b}},
                        {Dest::fp32, Intermediate::wide, {float32, float16, bfp8_b, bfp4_b, bfp2_b}},
                        {Dest::fp32, Intermediate::bf16, {float16_b}},
                        {Dest::fp32, Intermediate::e8m6, {bfp8_b, bfp4_b}}};
  std::vector<PackCase> out;
  for (const Path& path : paths)
    for (DataFormat format : path.outs)
      for (PackerRelu relu : {PackerRelu::none, PackerRelu::zero, PackerRelu::min_threshold, PackerRelu::max_threshold})
        out.push_back({{path.dest, path.intermediate, format, relu, relu >= PackerRelu::min_threshold ? 0.8125f : 0.0f}});
  return out;
}

std::uint64_t pack_digest(const PackCase& c, const Pack& pack, std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  Fnv1a hash;
  std::array<std::uint32_t, 16> datums{};
  for (std::size_t done = 0; done < count; done += 16) {
    const Words words = drawn(rng, 16, c.packing.dest);
    hash.add(std::uint64_t{pack(c.packing, std::span<const std::uint32_t, 16>(words.data(), 16), datums)});
    add(hash, {datums.begin(), datums.end()});
  }
  return hash.value();
}

std::uint64_t sum_digest(DataFormat format, const Sum& sum, std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  Fnv1a hash;
  const auto datum = [&](std::uint32_t word) {
    return format == DataFormat::float32 ? word : format == DataFormat::float16_b ? word >> 16 : fp16_of_word(word);
  };
  const Dest as = format == DataFormat::float32 ? Dest::fp32 : format == DataFormat::float16_b ? Dest::bf16 : Dest::fp16;
  for (std::size_t done = 0; done < count; done += 64) {
    const Words there = drawn(rng, 64, as), arriving = drawn(rng, 64, as);
    for (std::size_t i = 0; i < 64; ++i) {
      // Now and then the opposite number, or one beside it.
      const std::uint32_t other = i % 8 == 0 ? there[i] ^ kSignBit : arriving[i];
      hash.add(std::uint64_t{sum(format, datum(there[i]), datum(other) ^ (i % 16 == 0 ? 1u : 0u))});
    }
  }
  return hash.value();
}

}  // namespace buda::numerics::cases
