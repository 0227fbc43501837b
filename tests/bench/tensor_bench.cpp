// SPDX-License-Identifier: Apache-2.0
// What the device formats cost on the host, next to copying the same values.
#include <buda/base/rng.hpp>
#include <buda/tensor/formats/quantize.hpp>
#include <buda/tensor/formats/tile_layout.hpp>

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

namespace {

using namespace buda;

constexpr std::size_t kSide = 1024;

std::vector<float> values() {
  Rng rng;
  std::vector<float> out(kSide * kSide);
  for (float& v : out) v = static_cast<float>(rng.uniform(-4, 4));
  return out;
}

void set_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kSide * kSide * sizeof(float)));
}

void copy(benchmark::State& state) {
  std::vector<float> from = values(), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  set_bytes(state);
}
BENCHMARK(copy);

void quantize(benchmark::State& state, DataFormat format) {
  std::vector<float> data = values();
  for (auto _ : state) {
    quantize_to_format(std::span<float>(data), kSide, kSide, format);
    benchmark::ClobberMemory();
  }
  set_bytes(state);
}
BENCHMARK_CAPTURE(quantize, Float16_b, DataFormat::float16_b);
BENCHMARK_CAPTURE(quantize, Float16, DataFormat::float16);
BENCHMARK_CAPTURE(quantize, Bfp8_b, DataFormat::bfp8_b);
BENCHMARK_CAPTURE(quantize, Bfp2_b, DataFormat::bfp2_b);

void pack(benchmark::State& state, DataFormat format) {
  std::vector<float> data = values();
  TileLayout layout{.format = format};
  for (auto _ : state) benchmark::DoNotOptimize(pack_matrix(layout, std::span<const float>(data), kSide, kSide));
  set_bytes(state);
}
BENCHMARK_CAPTURE(pack, Float16_b, DataFormat::float16_b);
BENCHMARK_CAPTURE(pack, Bfp8_b, DataFormat::bfp8_b);

}  // namespace
