// SPDX-License-Identifier: Apache-2.0
// The whole compiler in one call: what `buda compile` does, without processes and files in between.
//
//   plugin::Registries plugins;
//   BUDA_TRY(plugin::load_plugins(path, compiler::plugin_kinds(), plugins, host));
//   BUDA_ASSIGN(image::Image image, buda::compile({"digits.onnx", bytes}, {}, plugins, host));
//   BUDA_ASSIGN(auto model, runtime::load_image(std::move(image), "digits"));
//
// docs/tutorial/embedding.md has a whole program.
#pragma once

#include <buda/compiler/balancer_options.hpp>
#include <buda/compiler/optimizer_options.hpp>
#include <buda/diag/result.hpp>
#include <buda/image/image.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/registry.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::compiler {

// The kinds of plugins that a compilation uses.
std::vector<plugin::Kind> plugin_kinds();

struct CompileOptions {
  // Compiled in one place (docs/decisions/0021).
  CompileOptions();
  CompileOptions(const CompileOptions&);
  CompileOptions(CompileOptions&&) noexcept;
  CompileOptions& operator=(const CompileOptions&);
  CompileOptions& operator=(CompileOptions&&) noexcept;
  ~CompileOptions();

  std::string device = "n150";   // name of a device descriptor, or its file
  std::string cluster;           // the same of a cluster; empty: that of the device
  std::string frontend;          // empty: the one that recognises the model
  plugin::ImportOptions import;  // an empty name: that of the model's file
  // What is promised of inputs, by name: their least and largest element. A run checks it.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> value_ranges;
  OptimizerOptions optimizer;
  BalancerOptions balancer;
  std::map<std::string, schema::OptionValues> plugins;  // options of single plugins, by "kind.name"
  // Called between stages, after every pass and before every epoch, in the calling thread; true ends the compilation with CO001.
  std::function<bool()> cancelled;
};

}  // namespace buda::compiler

namespace buda {

// Compiles a model. The image has the bytes that `buda compile` writes, with the same options, device and plugins. All errors of a stage
// are told together, as its tool tells them; one that does not fit the device has Fault::fit. Warnings go to host.report, what is being
// done to host.progress and host.log; the host's file system serves device descriptors, pipelines and files that belong to the model.
Result<image::Image> compile(const plugin::ModelSource& model, const compiler::CompileOptions& options, const plugin::Registries& plugins,
                             Host& host);

}  // namespace buda

#pragma GCC visibility pop
