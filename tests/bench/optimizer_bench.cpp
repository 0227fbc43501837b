// SPDX-License-Identifier: Apache-2.0
// How the optimizer's time grows with the size of a graph: the whole pipeline on networks of many small layers, so that what is measured
// is the passes and not the arithmetic. The counter `times_tenth` is the time of a graph by that of one with a tenth of its nodes: 10 is
// linear, and at most 12 is allowed.
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/pipeline/pipeline.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/loader.hpp>
#include <buda/tensor/tensor.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

namespace {

using namespace buda;
using graph::Edge;
using graph::ValueRef;

// Encoder-like layers: a product with bias, an activation, a residual add, now and then a softmax or a layer norm.
graph::Graph network(std::size_t nodes) {
  ops::Builder b("network");
  ValueRef x = b.input("x", {32, 40});
  auto tensor = [](Shape shape, float value) {
    return Tensor(shape, std::vector<float>(static_cast<std::size_t>(*shape.volume()), value));
  };
  for (std::size_t layer = 0; b.graph().size() + 12 < nodes; ++layer) {
    auto value = static_cast<float>(layer % 97) * 0.01f;
    ValueRef w = b.parameter(cat("w", layer), tensor({40, 40}, value)), bias = b.parameter(cat("b", layer), tensor({40}, value));
    ValueRef y = b.add(b.matmul(x, w), bias);
    y = layer % 2 == 0 ? b.op("relu", {Edge(y)}) : b.op("tanh", {Edge(y)});
    if (layer % 4 == 1) y = b.op("softmax", {Edge(y)}, {{"dim", std::int64_t{-1}}});
    if (layer % 4 == 3) y = b.op("layernorm", {Edge(y)});
    x = b.add(y, x);
    if (layer % 50 == 0) b.output(cat("tap", layer), x);
  }
  b.output("y", x);
  auto graph = b.finish();
  if (!graph) {
    std::fprintf(stderr, "%s\n", graph.failure().diagnostics().front().message.c_str());
    std::abort();
  }
  return std::move(*graph);
}

// What the optimizer has around a run: device, pipeline and plugins of the build tree.
struct Optimizer {
  std::unique_ptr<io::FileSystem> fs = io::make_real_file_system();
  CollectingSink sink;
  Host host{*fs, sink};
  plugin::Registries registries;
  device::DeviceDescriptor device;
  passes::DecompositionSet decompositions;
  passes::Pipeline pipeline;

  Optimizer() {
    auto root = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    host.share_dir = BUDA_SHARE_DIR;
    plugin::SearchPath path;
    path.directories = {(root / "lib/buda/plugins/abi1").string()};
    bool ready = plugin::load_plugins(path, {plugin::Kind::decomposition}, registries, host).ok();
    if (auto made = plugin::make_decompositions(registries, {}, host)) decompositions = std::move(*made);
    if (auto loaded = device::load_device(host, "n150")) device = std::move(*loaded);
    if (auto read = passes::read_default_pipeline(host)) pipeline = std::move(*read);
    if (!ready || decompositions.empty() || pipeline.stages.empty() || device.name.empty()) {
      std::fprintf(stderr, "no plugins, device or pipeline below %s\n", root.c_str());
      std::abort();
    }
  }

  double seconds(std::size_t nodes, std::string* table = nullptr) {
    graph::Graph graph = network(nodes);
    passes::PassContext context(host);
    context.device = &device;
    context.decompositions = &decompositions;
    std::clock_t begin = std::clock();  // of this process: other work on the machine does not count
    auto runs = passes::run_pipeline(pipeline, graph, context, {.level = 1});
    std::clock_t end = std::clock();
    if (!runs) {
      std::fprintf(stderr, "%s\n", runs.failure().diagnostics().front().message.c_str());
      std::abort();
    }
    if (table != nullptr) *table = passes::timing_table(*runs);
    return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
  }
};

Optimizer& optimizer() {
  static auto* one = new Optimizer;
  return *one;
}

// Ten graphs of a tenth, half of them before and half of them behind the whole one, so that both times are of the same minute: how fast
// memory answers changes with what else the machine does. The counter is the median of several such rounds.
void pipeline(benchmark::State& state) {
  constexpr std::size_t kRounds = 5, kHalf = 5;
  const auto nodes = static_cast<std::size_t>(state.range(0));
  std::array<double, kRounds> wholes{}, ratios{};
  std::string table;
  auto half_of_tenths = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < kHalf; ++i) sum += optimizer().seconds(nodes / 10);
    return sum;
  };
  for (auto _ : state) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      double tenths = half_of_tenths();
      wholes[round] = optimizer().seconds(nodes, &table);
      tenths += half_of_tenths();
      ratios[round] = wholes[round] / (tenths / (2 * kHalf));
    }
    std::sort(wholes.begin(), wholes.end());
    std::sort(ratios.begin(), ratios.end());
    state.SetIterationTime(wholes[kRounds / 2]);
  }
  const double whole = wholes[kRounds / 2];
  state.counters["times_tenth"] = ratios[kRounds / 2];
  state.counters["us_per_node"] = whole / static_cast<double>(nodes) * 1e6;
  if (std::getenv("BUDA_BENCH_PASSES") != nullptr) std::printf("%s", table.c_str());
}
BENCHMARK(pipeline)->Arg(10'000)->Arg(100'000)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
