// SPDX-License-Identifier: Apache-2.0
// Processes that share an image: shared_io BUILD serve NAME IMAGE | push NAME COUNT | pop NAME | push-file NAME FILE | pop-file NAME FILE.
// The model of push and pop doubles its one input; the others take any model, and files with one batch after the other.
#include <buda/plugin/loader.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/runtime/shared_io.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <vector>

using namespace buda;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 60s;

// A number that the device's formats have exactly, and that tells batches near each other apart.
float value_of(std::int64_t batch) { return static_cast<float>(batch % 127 + 1); }

struct Messages final : DiagSink {
  void report(const Diagnostic& d) override { std::cerr << d.message << '\n'; }
};

std::string peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return line;
  return "";
}

Result<void> serve(const std::string& build, const std::string& name, const std::string& image) {
  auto files = io::make_real_file_system();
  Messages messages;
  Host host(*files, messages);
  plugin::Registries plugins;
  BUDA_TRY(plugin::load_plugins({.installed_directory = build + "/lib/buda/plugins/abi1"}, {plugin::Kind::target}, plugins, host));
  BUDA_ASSIGN(auto target, plugin::make(plugins, plugins.targets, plugin::Kind::target, "golden", {}, host));
  BUDA_ASSIGN(auto backend, runtime::Backend::open(image, *target, host));
  runtime::ServeOptions options;
  options.idle = 5s;
  BUDA_TRY(runtime::serve_io(*backend, backend->models().front(), name, options));
  std::cout << peak_memory() << '\n';
  return success();
}

Result<void> push(const std::string& name, std::int64_t count) {
  BUDA_ASSIGN(auto io, runtime::SharedIo::attach(name, runtime::IoRole::push, 5s));
  const runtime::TensorType& input = io->inputs().front();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::vector<float> values(static_cast<std::size_t>(*input.shape.volume()), value_of(i));
    BUDA_TRY(io->push({{input.name, Tensor(input.shape, values)}}, 20s));
  }
  io->close();
  return success();
}

// A wrong result ends with exit code 3, whatever else happens.
Result<void> pop(const std::string& name) {
  BUDA_ASSIGN(auto io, runtime::SharedIo::attach(name, runtime::IoRole::pop, 5s));
  for (std::int64_t i = 0;; ++i) {
    BUDA_ASSIGN(auto batch, io->pop(20s));
    if (!batch) {
      std::cout << i << '\n';
      return success();
    }
    const auto values = batch->begin()->second.to_f32();
    if (std::all_of(values.begin(), values.end(), [&](float v) { return v == 2 * value_of(i); })) continue;
    std::cerr << "batch " << i << " is wrong\n";
    std::exit(3);
  }
}

Result<void> push_file(const std::string& name, const std::string& path) {
  auto files = io::make_real_file_system();
  BUDA_ASSIGN(NamedTensors given, read_tensors(*files, path));
  BUDA_ASSIGN(auto io, runtime::SharedIo::attach(name, runtime::IoRole::push, kLong));
  const auto rows_of_input = [&](const runtime::TensorType& input) { return given.at(input.name).shape()[0] / input.shape[0]; };
  for (std::int64_t i = 0; i < rows_of_input(io->inputs().front()); ++i) {
    NamedTensors batch;
    for (const runtime::TensorType& input : io->inputs()) {
      BUDA_ASSIGN(batch[input.name], runtime::rows_of(given.at(input.name), i * input.shape[0], input.shape[0]));
    }
    BUDA_TRY(io->push(batch, kLong));
  }
  io->close();
  return success();
}

Result<void> pop_file(const std::string& name, const std::string& path) {
  BUDA_ASSIGN(auto io, runtime::SharedIo::attach(name, runtime::IoRole::pop, kLong));
  std::map<std::string, std::vector<Tensor>> popped;
  while (true) {
    BUDA_ASSIGN(auto batch, io->pop(kLong));
    if (!batch) break;
    for (auto& [output, tensor] : *batch) popped[output].push_back(std::move(tensor));
  }
  NamedTensors whole;
  for (const auto& [output, tensors] : popped) {
    BUDA_ASSIGN(whole[output], runtime::joined(tensors));
  }
  auto files = io::make_real_file_system();
  return write_tensors(*files, path, whole);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string what = argv[2], name = argv[3];
  Result<void> done;
  if (what == "serve" && argc == 5) done = serve(argv[1], name, argv[4]);
  if (what == "push" && argc == 5) done = push(name, std::stoll(argv[4]));
  if (what == "pop") done = pop(name);
  if (what == "push-file" && argc == 5) done = push_file(name, argv[4]);
  if (what == "pop-file" && argc == 5) done = pop_file(name, argv[4]);
  for (const Diagnostic& d : done.failure().diagnostics()) std::cerr << d.message << " [" << d.code << "]\n";
  return done ? 0 : 1;
}
