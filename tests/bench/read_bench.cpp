// SPDX-License-Identifier: Apache-2.0
// Reading the same document as JSON, as YAML, and as bytes that are only looked at once: megabytes per second of each.
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/io/yaml.hpp>

#include <benchmark/benchmark.h>

namespace {

using namespace buda;

// Like a netlist: many maps of a dozen short values. Flow style, so that it is JSON and YAML at once.
std::string document(std::int64_t entries) {
  std::string out = "{\"ops\": [";
  for (std::int64_t i = 0; i < entries; ++i)
    out += cat(i == 0 ? "" : ",\n", "{\"name\": \"op_", i, "\", \"type\": \"matmul\", \"grid_loc\": [", i % 10, ", ", i % 8,
               "], \"grid_size\": [1, 2], \"t\": 1, \"mblock\": [2, 2], \"ublock\": [2, 4], \"buf_size_mb\": 2, \"out_df\": \"Float16_b\", "
               "\"u\": 0.5}");
  return out + "]}";
}

void bytes_once(benchmark::State& state) {
  std::string text = document(state.range(0));
  for (auto _ : state) {
    std::size_t lines = 0;
    for (char c : text) lines += c == '\n' ? 1 : 0;
    benchmark::DoNotOptimize(lines);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(bytes_once)->Arg(4000);

void json(benchmark::State& state) {
  std::string text = document(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(io::parse_json(text, "f"));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(json)->Arg(400)->Arg(4000);

void yaml(benchmark::State& state) {
  std::string text = document(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(io::parse_yaml(text, "f"));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(yaml)->Arg(400)->Arg(4000);

}  // namespace
