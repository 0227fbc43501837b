// Arithmetic of a Tensix core: first that all instruction sets have the same bits over 10^8 results (or as many as the first argument
// says), then what a product of two tiles, a function and packing cost in each.
#include <unit/numerics/cases.hpp>

#include <buda/numerics/matmul.hpp>
#include <buda/sfpu/functions.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace {

using namespace buda::numerics;

bool all_equal(std::size_t results) {
  const auto cases = buda::numerics::cases::all_cases();
  const auto implementations = buda::numerics::cases::implementations();
  const std::size_t each = (results / cases.size() + 1023) / 1024 * 1024;
  bool equal = true;
  for (const auto& c : cases) {
    const std::uint64_t wanted = digest(c, implementations.front(), 1, each);
    for (const auto& how : implementations) {
      if (digest(c, how, 1, each) == wanted) continue;
      std::printf("%s: %s differs from the definition\n", c.name().c_str(), how.name.c_str());
      equal = false;
    }
  }
  std::printf("%zu results in %zu versions: %s\n", each * cases.size(), implementations.size(), equal ? "equal" : "different");
  return equal;
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
  if (!all_equal(results)) return 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
