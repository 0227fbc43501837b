// SPDX-License-Identifier: Apache-2.0
// What an embedding program has: a host, a device, the plugins of the build tree, and options that are set by their names.
#pragma once

#include <buda/compiler/optimize.hpp>
#include <buda/compiler/place.hpp>
#include <buda/device/load.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/plugin/loader.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace buda::compiler {

inline const plugin::Registries& build_plugins() {
  static const plugin::Registries* registries = [] {
    auto* loaded = new plugin::Registries;
    plugin::SearchPath path;
    path.installed_directory =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/buda/plugins/abi1").string();
    auto fs = io::make_real_file_system();
    CollectingSink sink;
    Host host(*fs, sink);
    EXPECT_TRUE(plugin::load_plugins(
        path, {plugin::Kind::frontend, plugin::Kind::decomposition, plugin::Kind::policy, plugin::Kind::target}, *loaded, host));
    return loaded;
  }();
  return *registries;
}

inline std::string message(const Failure& failure) { return failure.diagnostics().front().message; }

class Stages : public ::testing::Test {
 protected:
  Stages() {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    host_.share_dir = std::string(source == nullptr ? "." : source) + "/share";
    declare(optimizer_names_, optimizer_);
    declare(balancer_names_, balancer_);
  }

  device::DeviceDescriptor device() {
    auto loaded = device::load_device(host_, "n150");
    EXPECT_TRUE(loaded);
    return loaded ? *loaded : device::DeviceDescriptor{};
  }

  // softmax(x w): an op that lowers as it is, and one that a plugin decomposes.
  static graph::Graph classifier() {
    ops::Builder b("classifier");
    auto x = b.input("x", Shape{32, 64});
    auto w = b.parameter("w", Tensor(Shape{64, 32}, std::vector<float>(64 * 32, 0.5f)));
    auto fc = b.named("fc").matmul(x, w);
    b.output("y", b.named("p").op("softmax", {fc}, {{"dim", std::int64_t{-1}}}));
    auto graph = b.finish();
    EXPECT_TRUE(graph);
    return graph ? std::move(*graph) : graph::Graph();
  }

  void set(const schema::OptionSet& names, const std::string& key, const std::string& value) {
    auto set = names.assign(key, {value});
    EXPECT_TRUE(set) << message(set.failure());
  }

  Result<Optimized> optimize(graph::Graph& graph, const OptimizeControl& control = {}) {
    return compiler::optimize(graph, device(), optimizer_, {build_plugins(), plugin_options_}, host_, control);
  }

  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  CollectingSink sink_;
  Host host_{*fs_, sink_};
  std::map<std::string, schema::OptionValues> plugin_options_;
  OptimizerOptions optimizer_;
  BalancerOptions balancer_;
  schema::OptionSet optimizer_names_, balancer_names_;
};

}  // namespace buda::compiler
