// SPDX-License-Identifier: Apache-2.0
// How much of what is possible a pipeline of three devices (the host's processor, and two on target golden) makes of the machine. The
// counter `of_possible` is its throughput by the smaller of two bounds: that of its slowest device alone, and the machine's cores by the
// time that one microbatch takes in all devices. At least 0.9 is wanted.
#include <buda/base/text.hpp>
#include <buda/compiler/compile.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/plugin/loader.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/pipeline.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace buda;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kRows = 128, kColumns = 192;
constexpr int kMicrobatches = 100;

template <class T>
T value_or_abort(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.failure().diagnostics().front().message.c_str());
  std::abort();
}

Tensor ramp(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 61) / 61 - 0.5F;
  return Tensor(std::move(shape), std::move(values));
}

// Layers of a product and an activation, as many as make a device take a few milliseconds.
graph::Graph layers(int count) {
  ops::Builder b("layers");
  auto x = b.input("x", {kRows, kColumns});
  for (int i = 0; i < count; ++i) x = b.op("tanh", {graph::Edge(b.matmul(x, b.parameter(cat("w", i), ramp({kColumns, kColumns}))))});
  b.output("y", x);
  return value_or_abort(b.finish());
}

struct Devices {
  std::unique_ptr<io::FileSystem> fs = io::make_real_file_system();
  CollectingSink sink;
  Host host{*fs, sink};
  plugin::Registries plugins;
  std::unique_ptr<runtime::Target> target;
  std::vector<std::unique_ptr<runtime::Session>> sessions;
  std::vector<runtime::PipelineDevice> devices;

  Devices() {
    const auto root = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    host.share_dir = BUDA_SHARE_DIR;
    plugin::SearchPath path;
    path.directories = {(root / "lib/buda/plugins/abi1").string()};
    auto kinds = compiler::plugin_kinds();
    kinds.push_back(plugin::Kind::target);
    if (!plugin::load_plugins(path, kinds, plugins, host)) std::abort();
    target = value_or_abort(plugin::make(plugins, plugins.targets, plugin::Kind::target, "golden", {}, host));
    devices.push_back(value_or_abort(runtime::cpu_device("cpu0", layers(6), host)));
    for (int i = 0; i < 2; ++i) {
      sessions.push_back(session());
      devices.push_back(runtime::pipeline_device(cat("tt", i), *sessions.back()));
    }
  }

  // Four layers as text, with their weights in it.
  static std::string model() {
    std::string values, nodes, x = "x";
    for (float v : ramp({kColumns, kColumns}).as<float>()) values += cat(values.empty() ? "" : ",", v);
    for (int i = 0; i < 4; ++i) {
      nodes += cat(R"({"name": "mm)", i, R"(", "op": "matmul", "inputs": [")", x, R"(", "w"]}, )");
      x = cat("t", i);
      nodes += cat(R"({"name": ")", x, R"(", "op": "tanh", "inputs": ["mm)", i, R"("]}, )");
    }
    return cat(R"({"schema": "buda.graph/1", "name": "layers", "level": "tensor", "nodes": [
      {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [)",
               kRows, ", ", kColumns, R"(]}]}, {"name": "w", "op": "parameter", "value": "w"}, )", nodes,
               R"({"name": "y", "op": "output", "inputs": [")", x, R"("]}],
      "tensors": [{"name": "w", "dtype": "F32", "shape": [)",
               kColumns, ", ", kColumns, R"(], "values": [)", values, "]}]}");
  }

  std::unique_ptr<runtime::Session> session() {
    auto image = value_or_abort(compile({"layers.graph.json", io::Bytes(model())}, {}, plugins, host));
    auto device = value_or_abort(device::load_device(host, "n150"));
    auto compiled = value_or_abort(runtime::load_image("layers.tti", std::move(image)));
    return value_or_abort(runtime::Session::open(std::move(compiled), *target, device, host));
  }
};

double seconds_alone(const runtime::PipelineDevice& device) {
  const NamedTensors input{{device.inputs.front().name, ramp({kRows, kColumns})}};
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kMicrobatches; ++i) value_or_abort(device.run(input));
  return Seconds(std::chrono::steady_clock::now() - begin).count() / kMicrobatches;
}

double seconds_side_by_side(const std::vector<runtime::PipelineDevice>& devices) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (const auto& device : devices) threads.emplace_back([&device] { seconds_alone(device); });
  for (std::thread& thread : threads) thread.join();
  return Seconds(std::chrono::steady_clock::now() - begin).count();
}

void three_devices(benchmark::State& state) {
  Devices all;
  double slowest = 0, sum = 0;
  for (const auto& device : all.devices) {
    const double seconds = seconds_alone(device);
    state.counters[cat("ms_", device.name)] = 1000 * seconds;
    slowest = std::max(slowest, seconds);
    sum += seconds;
  }
  auto pipeline = value_or_abort(runtime::Pipeline::make(all.devices));
  const std::vector<NamedTensors> inputs(kMicrobatches, NamedTensors{{"x", ramp({kRows, kColumns})}});
  double seconds = 0, side_by_side = 0;
  for ([[maybe_unused]] auto iteration : state) {
    side_by_side += seconds_side_by_side(all.devices);
    const auto begin = std::chrono::steady_clock::now();
    value_or_abort(pipeline->run_inference(inputs));
    seconds += Seconds(std::chrono::steady_clock::now() - begin).count();
  }
  const double throughput = kMicrobatches * static_cast<double>(state.iterations()) / seconds;
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  state.counters["of_side_by_side"] = side_by_side / seconds;
  state.counters["inputs_per_second"] = throughput;
  state.counters["of_possible"] = throughput / std::min(1 / slowest, cores / sum);
}
BENCHMARK(three_devices)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
