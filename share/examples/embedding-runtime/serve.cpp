// SPDX-License-Identifier: Apache-2.0
// Runs an image while its inputs arrive: serve PREFIX TARGET IMAGE INPUTS OUTPUTS, with OpenBuda installed in PREFIX.
#include <buda/plugin/loader.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/backend.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>
#include <future>
#include <iostream>

using namespace buda;
struct Messages final : DiagSink {
  void report(const Diagnostic& d) override { std::cerr << d.message << '\n'; }
};

Result<void> push_all(runtime::Backend& backend, const runtime::LoadedModel& model, const NamedTensors& inputs, std::int64_t batches) {
  for (std::int64_t i = 0; i < batches; ++i)
    for (const runtime::Port& input : model.ports.pushed) {
      BUDA_ASSIGN(Tensor batch, runtime::rows_of(inputs.at(input.tensor->name), i * input.shape[0], input.shape[0]));
      BUDA_TRY(backend.push(input, batch));  // waits for room in the queue
    }
  return success();
}

Result<void> serve(const std::string& prefix, const char* name, const char* image, const char* input_file, const char* output_file) {
  auto files = io::make_real_file_system();
  Messages messages;
  Host host(*files, messages);
  plugin::Registries plugins;
  BUDA_TRY(plugin::load_plugins({.installed_directory = prefix + "/lib/buda/plugins/abi1"}, {plugin::Kind::target}, plugins, host));
  BUDA_ASSIGN(auto target, plugin::make(plugins, plugins.targets, plugin::Kind::target, name, {}, host));
  BUDA_ASSIGN(auto backend, runtime::Backend::open(image, *target, host));
  const runtime::LoadedModel& model = backend->models().front();
  BUDA_ASSIGN(auto inputs, read_tensors(*files, input_file));
  const std::int64_t rows = inputs.begin()->second.shape()[0], turns = model.turns_for_rows(rows), batches = turns * model.batches_per_turn;
  for (std::int64_t turn = 0; turn < turns; ++turn)
    for (const std::string& program : model.programs) BUDA_TRY(backend->start(program, {{"$p_loop_count", 1}}));
  auto pushed = std::async(std::launch::async, [&] { return push_all(*backend, model, inputs, batches); });
  std::map<std::string, std::vector<Tensor>> popped;
  for (std::int64_t i = 0; i < batches; ++i)
    for (const runtime::Port& output : model.ports.popped) {
      BUDA_ASSIGN(Tensor batch, backend->pop(output));  // waits until it is there, and frees its place
      popped[output.tensor->name].push_back(std::move(batch));
    }
  BUDA_TRY(pushed.get());
  BUDA_TRY(backend->wait());
  NamedTensors outputs;
  for (const auto& [name, parts] : popped) {
    BUDA_ASSIGN(outputs[name], runtime::joined(parts, rows));
  }
  return write_tensors(*files, output_file, outputs);
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  auto done = serve(argv[1], argv[2], argv[3], argv[4], argv[5]);
  for (const Diagnostic& d : done.failure().diagnostics()) std::cerr << d.message << '\n';
  return done ? 0 : 1;
}
