// SPDX-License-Identifier: Apache-2.0
// Compiles a model and runs it, all in one process: embed PREFIX MODEL INPUTS IMAGE, with OpenBuda installed in PREFIX.
#include <buda/compiler/compile.hpp>
#include <buda/device/load.hpp>
#include <buda/plugin/loader.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <iostream>

using namespace buda;

struct Messages final : DiagSink {
  void report(const Diagnostic& d) override { std::cerr << d.message << '\n'; }
};

struct Program final : Host {
  using Host::Host;
  void progress(std::string_view what, std::size_t done, std::size_t) override { std::clog << what << ' ' << done << '\n'; }
};

Result<void> compile_and_run(const std::string& prefix, const std::string& path, const std::string& inputs, const std::string& image_path) {
  auto files = io::make_real_file_system();
  Messages messages;
  Program host(*files, messages);
  host.share_dir = prefix + "/share/buda";
  plugin::Registries plugins;
  std::vector<plugin::Kind> kinds = compiler::plugin_kinds();
  kinds.push_back(plugin::Kind::target);
  plugin::SearchPath search;
  search.installed_directory = prefix + "/lib/buda/plugins/abi1";
  BUDA_TRY(plugin::load_plugins(search, kinds, plugins, host));

  compiler::CompileOptions options;
  options.optimizer.default_df = buda::DataFormat::float16_b;
  options.cancelled = [] { return false; };  // a window would ask its Stop button
  BUDA_ASSIGN(io::Bytes model, files->read(path));
  BUDA_ASSIGN(image::Image image, compile({path, model}, options, plugins, host));
  BUDA_ASSIGN(auto file, files->create(image_path));
  BUDA_TRY(image::write_image(*file, image));
  BUDA_TRY(file->commit());

  BUDA_ASSIGN(auto target, plugin::make(plugins, plugins.targets, plugin::Kind::target, "golden", {}, host));
  BUDA_ASSIGN(auto device, device::load_device(host, options.device));
  BUDA_ASSIGN(auto compiled, runtime::load_image(image_path, std::move(image)));
  BUDA_ASSIGN(auto session, runtime::Session::open(std::move(compiled), *target, device, host));
  BUDA_ASSIGN(auto given, read_tensors(*files, inputs));
  BUDA_ASSIGN(auto outputs, session->run(given));
  for (const auto& [name, tensor] : outputs) std::cout << name << ": " << tensor.describe() << '\n';
  return success();
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  auto done = compile_and_run(argv[1], argv[2], argv[3], argv[4]);
  for (const Diagnostic& d : done.failure().diagnostics()) std::cerr << d.message << '\n';
  return done ? 0 : 1;
}
