// SPDX-License-Identifier: Apache-2.0
// What tests of passes need: a host, a device, and the plugins of the build tree. Tests that look at values include values.hpp.
#pragma once

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/pipeline/listing.hpp>
#include <buda/passes/pipeline/pipeline.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/loader.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace buda::passes {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tm;
using graph::TmDim;
using graph::ValueRef;
using ops::Builder;

inline device::DeviceDescriptor wormhole_like() {
  device::DeviceDescriptor d;
  d.name = "test-b";
  d.arch = "wormhole_b0";
  d.features.fp32_accumulate = true;
  d.features.binary_transpose = true;
  d.features.mixed_exponents_matmul = true;
  d.formats = {DataFormat::float32, DataFormat::float16, DataFormat::float16_b, DataFormat::bfp8, DataFormat::bfp8_b, DataFormat::bfp4_b};
  return d;
}

inline device::DeviceDescriptor grayskull_like() {
  device::DeviceDescriptor d = wormhole_like();
  d.name = "test-a";
  d.arch = "grayskull";
  d.features = {};
  return d;
}

// Everything that a pass is run with.
struct Bench {
  io::MemoryFileSystem fs;
  CollectingSink sink;
  Host host{fs, sink};
  device::DeviceDescriptor device = wormhole_like();
  PassContext context{host};

  Bench() { context.device = &device; }

  PassReport run(const Pass& pass, Graph& graph) {
    auto report = run_pass(pass, graph, context);
    if (!report) ADD_FAILURE() << pass.name << ": " << message(report.failure());
    EXPECT_EQ(problems(graph), "") << "after " << pass.name;
    return report ? *report : PassReport{};
  }

  // The first error of a pass that must fail: "CODE: message".
  std::string error(const Pass& pass, Graph& graph) {
    auto report = run_pass(pass, graph, context);
    return report ? "no error" : message(report.failure());
  }

  static std::string message(const Failure& failure) {
    if (failure.empty()) return "a failure without a diagnostic";
    return failure.diagnostics().front().code + ": " + failure.diagnostics().front().message;
  }

  static std::string problems(const Graph& graph) {
    auto found = ops::verify(graph);
    return found.empty() ? "" : found.front().message;
  }
};

inline Graph finished(Builder& b) {
  auto graph = b.finish();
  if (graph) return std::move(*graph);
  ADD_FAILURE() << Bench::message(graph.failure());
  return Graph();
}

// Gives what was just built a name. (Builder::named names the next call, which among nested calls is the innermost.)
inline ValueRef called(Builder& b, const std::string& name, ValueRef value) {
  EXPECT_TRUE(value.valid() && b.graph().rename(value.node, name)) << name;
  return value;
}

// The lines of a listing without its heading.
inline std::string body(const Graph& graph) {
  std::string text = listing(graph);
  return text.substr(text.find('\n') + 1);
}

// The decompositions of the plugins beside the test's executable; loaded once.
inline const DecompositionSet& plugin_decompositions() {
  static const DecompositionSet* set = [] {
    auto* bench = new Bench;
    auto* registries = new plugin::Registries;
    plugin::SearchPath path;
    path.directories = {(std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/buda/plugins/abi1").string()};
    auto fs = io::make_real_file_system();
    Host host(*fs, bench->sink);
    auto loaded = plugin::load_plugins(path, {plugin::Kind::decomposition}, *registries, host);
    if (!loaded) ADD_FAILURE() << Bench::message(loaded.failure());
    auto made = plugin::make_decompositions(*registries, {}, host);
    if (!made) ADD_FAILURE() << Bench::message(made.failure());
    return new DecompositionSet(made ? std::move(*made) : DecompositionSet{});
  }();
  return *set;
}

}  // namespace buda::passes
