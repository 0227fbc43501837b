// SPDX-License-Identifier: Apache-2.0
// Generates tokens: generate PREFIX IMAGE COUNT TOKEN..., with OpenBuda installed in PREFIX. The image holds a model `decode`, which takes
// one token, and perhaps a model `prefill`, which takes several (export.py; tti-merge makes one image of both).
#include <buda/plugin/loader.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/generator.hpp>
#include <buda/runtime/merged_session.hpp>

#include <algorithm>
#include <iostream>

using namespace buda;

struct Messages final : DiagSink {
  void report(const Diagnostic& d) override { std::cerr << d.message << '\n'; }
};

Result<void> generate(const std::string& prefix, const std::string& image, std::int64_t count, const std::vector<std::int64_t>& prompt) {
  auto files = io::make_real_file_system();
  Messages messages;
  Host host(*files, messages);
  plugin::Registries plugins;
  BUDA_TRY(plugin::load_plugins({.installed_directory = prefix + "/lib/buda/plugins/abi1"}, {plugin::Kind::target}, plugins, host));
  schema::OptionValues options;
  options.set("mode", "fp32");
  BUDA_ASSIGN(auto target, plugin::make(plugins, plugins.targets, plugin::Kind::target, "golden", options, host));
  BUDA_ASSIGN(auto models, runtime::load_models(host, image));
  const device::DeviceDescriptor device = models.whole.device.value();
  BUDA_ASSIGN(auto merged, runtime::MergedSession::open(std::move(models), *target, device, host));
  const auto names = merged->models();
  BUDA_ASSIGN(runtime::Session * decode, merged->session("decode"));
  runtime::Session* prefill = nullptr;
  if (std::find(names.begin(), names.end(), "prefill") != names.end()) {
    BUDA_ASSIGN(prefill, merged->session("prefill"));
  }
  runtime::GenerateOptions heard;
  heard.heard = [](std::span<const std::int64_t> tokens) {
    for (std::int64_t token : tokens) std::cout << ' ' << token << std::flush;
    return true;
  };
  BUDA_ASSIGN(auto generator, runtime::Generator::make(*decode, prefill, heard));
  BUDA_ASSIGN(std::int64_t next, generator.prefill(prompt));
  std::cout << next << std::flush;
  BUDA_TRY(generator.generate(count - 1, static_cast<std::int64_t>(prompt.size()), 1, next));
  std::cout << '\n';
  return success();
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  std::vector<std::int64_t> prompt;
  for (int i = 4; i < argc; ++i) prompt.push_back(std::stoll(argv[i]));
  auto done = generate(argv[1], argv[2], std::stoll(argv[3]), prompt);
  for (const Diagnostic& d : done.failure().diagnostics()) std::cerr << d.message << '\n';
  return done ? 0 : 1;
}
