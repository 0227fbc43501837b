// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a Tensix core: first that all instruction sets have the same bits over 10^8 results of each function (or as many as the
// first argument says), then what a product of two tiles, a function and packing cost in each.
#include <unit/numerics/cases.hpp>

#include <buda/numerics/matmul.hpp>
#include <buda/sfpu/functions.hpp>

#include <benchmark/benchmark.h>

#include <buda/base/rng.hpp>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace buda::numerics;

// Of the matrix unit and of multiply-add, `results` of each, which its formats and phases share.
bool all_equal(std::size_t results) {
  const auto cases = buda::numerics::cases::all_cases();
  const auto implementations = buda::numerics::cases::implementations();
  std::map<std::string, std::size_t> forms;
  for (const auto& c : cases) ++forms[c.operation];
  bool equal = true;
  for (const auto& c : cases) {
    const std::size_t each = (results / forms[c.operation] + 1023) / 1024 * 1024;
    const std::uint64_t wanted = digest(c, implementations.front(), 1, each);
    for (const auto& how : implementations) {
      if (digest(c, how, 1, each) == wanted) continue;
      std::printf("%s: %s differs from the definition\n", c.name().c_str(), how.name.c_str());
      equal = false;
    }
  }
  for (const auto& [operation, count] : forms)
    std::printf("%s: %zu results in %zu versions: %s\n", operation.c_str(), (results / count + 1023) / 1024 * 1024 * count,
                implementations.size(), equal ? "equal" : "different");
  return equal;
}

// The other instructions of the vector unit, in all their modes.
struct VectorCase {
  const char* name;
  VectorOp op;
  std::vector<std::uint8_t> modes;
};
const std::vector<VectorCase>& vector_cases() {
  static const std::vector<VectorCase> all = {
      {"exponent", VectorOp::exponent, {0, 1}},
      {"fraction", VectorOp::fraction, {0, 1}},
      {"integer_add", VectorOp::integer_add, {0, 1, 2, 4, 5, 6, 8, 9, 10}},
      {"shift", VectorOp::shift, {0, 1}},
      {"test", VectorOp::test, {0, 2, 4, 6}},
      {"move", VectorOp::move, {0, 1, 2}},
      {"absolute", VectorOp::absolute, {0, 1}},
      {"bit_and", VectorOp::bit_and, {0}},
      {"bit_or", VectorOp::bit_or, {0}},
      {"bit_xor", VectorOp::bit_xor, {0}},
      {"bit_not", VectorOp::bit_not, {0}},
      {"with_exponent", VectorOp::with_exponent, {0, 1, 2}},
      {"with_sign", VectorOp::with_sign, {0, 1}},
      {"sort", VectorOp::sort, {0, 1, 2, 3}},
      {"float_of", VectorOp::float_of, {0}},
      {"round", VectorOp::round, {0, 1, 2, 3, 6, 7}},
      {"rotate", VectorOp::rotate, {3}},
      {"transpose", VectorOp::transpose, {0}},
  };
  return all;
}

// Words of registers: anything, and what lies near each other or at the ends.
void draw(buda::Rng& rng, VectorState& state) {
  for (auto& reg : state.registers)
    for (std::int32_t& lane : reg) {
      const std::uint64_t bits = rng.next();
      auto word = static_cast<std::uint32_t>(bits);
      if ((bits >> 32 & 7) == 0) word &= 0x800000ffu;
      if ((bits >> 32 & 7) == 1) word = (word & 0x807fffffu) | (120 + (bits >> 40 & 31)) << 23;
      if ((bits >> 32 & 7) == 2) word |= 0x7f800000u;
      lane = static_cast<std::int32_t>(word);
    }
}

bool same(const VectorState& a, const VectorState& b) {
  return std::memcmp(a.registers, b.registers, sizeof a.registers) == 0 && std::memcmp(&a.flags, &b.flags, sizeof a.flags) == 0;
}

bool vectors_equal(std::size_t results) {
  std::vector<const VectorUnit*> units = {&portable_vector_unit()};
  for (const VectorUnit* unit : {runnable_avx2_vector_unit(), runnable_avx512_vector_unit()})
    if (unit != nullptr) units.push_back(unit);
  bool all = true;
  for (const VectorCase& c : vector_cases()) {
    buda::Rng rng(7);
    VectorState drawn;
    drawn.flags.on = true;
    bool equal = true;
    for (std::size_t i = 0; i * kVectorLanes < results; ++i) {
      // Drawing takes longer than computing: what the last instruction has left goes on for a while.
      if (i % 16 == 0) draw(rng, drawn);
      for (std::size_t lane = 0; lane < kVectorLanes; ++lane)
        drawn.flags.lanes[lane] = c.op == VectorOp::transpose || (i & 1) == 0 ? -1 : -static_cast<std::int32_t>(rng.below(2));
      VectorInstruction instruction;
      instruction.op = c.op;
      instruction.mod = c.modes[i % c.modes.size()];
      instruction.d = static_cast<std::uint8_t>(i / 2 % 8);
      instruction.c = static_cast<std::uint8_t>((i / 2 + 1 + i / 16) % 8);
      instruction.immediate = static_cast<std::int32_t>(rng.below(4096)) - 2048;
      VectorState wanted = drawn;
      units[0]->execute(instruction, wanted);
      for (std::size_t k = 1; k < units.size(); ++k) {
        VectorState made = drawn;
        units[k]->execute(instruction, made);
        equal = equal && same(made, wanted);
      }
      drawn = wanted;
    }
    std::printf("vector %s: %zu results in %zu versions: %s\n", c.name, results, units.size(), equal ? "equal" : "different");
    all = all && equal;
  }
  return all;
}

std::vector<std::uint32_t> tile(std::uint32_t seed) {
  std::vector<std::uint32_t> words(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) words[i] = (0x3f000000u + (seed + i) * 0x9e3779b9u % 0x1000000u) & 0xffff0000u;
  return words;
}

// Two phases of a 32 x 32 x 32 product into 16 bits, operands prepared.
void tile_product(benchmark::State& state, const Kernels* kernels, Dest dest) {
  if (kernels == nullptr) return state.SkipWithError("not on this processor");
  const LeftOperand left(tile(1), 32);
  const RightOperand right(tile(2), 32);
  std::vector<std::uint32_t> sums(1024);
  constexpr std::array<unsigned, 2> kPhases = {0, 1};
  for (auto _ : state) {
    detail::multiply_with(*kernels, {Source::bf16, dest, kPhases, 32}, left, right, 0, 32, sums, 1);
    benchmark::DoNotOptimize(sums.data());
  }
  state.SetItemsProcessed(state.iterations() * 2 * 32 * 32 * 32);
}

void gelu_of_a_tile(benchmark::State& state, const VectorUnit* unit) {
  if (unit == nullptr) return state.SkipWithError("not on this processor");
  const auto numbers = tile(3);
  auto words = numbers;
  const buda::sfpu::Program& gelu = *buda::sfpu::program_of({"gelu", {}});
  VectorCall call;
  call.program = gelu.instructions.data();
  call.length = gelu.instructions.size();
  call.result = gelu.result;
  call.numbers = words.data();
  call.count = words.size();
  for (auto _ : state) {
    words = numbers;
    unit->apply(call);
    benchmark::DoNotOptimize(words.data());
  }
  state.SetItemsProcessed(state.iterations() * 1024);
}

void pack_of_a_tile(benchmark::State& state) {
  const auto words = tile(4);
  std::vector<float> values(words.size());
  for (auto _ : state) {
    pack(packing_for(Dest::bf16, buda::DataFormat::bfp8_b), words, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * 1024);
}

BENCHMARK_CAPTURE(tile_product, hifi2_bf16 / portable, &portable_kernels(), Dest::bf16);
BENCHMARK_CAPTURE(tile_product, hifi2_bf16 / avx2, runnable_avx2_kernels(), Dest::bf16);
BENCHMARK_CAPTURE(tile_product, hifi2_bf16 / avx512, runnable_avx512_kernels(), Dest::bf16);
BENCHMARK_CAPTURE(tile_product, hifi2_fp32 / avx512, runnable_avx512_kernels(), Dest::fp32);
BENCHMARK_CAPTURE(gelu_of_a_tile, portable, &portable_vector_unit());
BENCHMARK_CAPTURE(gelu_of_a_tile, avx2, runnable_avx2_vector_unit());
BENCHMARK_CAPTURE(gelu_of_a_tile, avx512, runnable_avx512_vector_unit());
BENCHMARK(pack_of_a_tile);

}  // namespace

int main(int argc, char** argv) {
  std::size_t results = 100'000'000;
  if (argc > 1) {
    const std::string_view given = argv[1];
    std::from_chars(given.data(), given.data() + given.size(), results);
  }
  if (!all_equal(results) || !vectors_equal(results)) return 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
