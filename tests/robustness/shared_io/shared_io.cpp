// The processes of shared_io.py: shared_io BUILD serve NAME IMAGE | push NAME COUNT | pop NAME. The model doubles its one input.
#include <buda/plugin/loader.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/shared_io.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>

using namespace buda;
using namespace std::chrono_literals;

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string what = argv[2], name = argv[3];
  Result<void> done;
  if (what == "serve" && argc == 5) done = serve(argv[1], name, argv[4]);
  if (what == "push" && argc == 5) done = push(name, std::stoll(argv[4]));
  if (what == "pop") done = pop(name);
  for (const Diagnostic& d : done.failure().diagnostics()) std::cerr << d.message << " [" << d.code << "]\n";
  return done ? 0 : 1;
}
