// SPDX-License-Identifier: Apache-2.0
// Passes: what the optimizer does to a graph, one step at a time.
//
// A pass is a function and a description of it. Each has a file of its own, named like the pass, that shows in its opening comment a graph
// before and after. Adding one takes that file, a line in standard_passes.cpp and a place in share/pipelines/default.yaml.
//
// What every pass keeps, but those that say otherwise (keeps_results): the semantics of the graph; the model's inputs and outputs, in name,
// type and order; and that a node's name stands for its value: a pass may drop a name or give a new one, but no node takes over the name of
// another value. So values can be compared by name across passes (equivalence_check.hpp), and a user finds the values of his model by their
// names.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/decompose/decomposition.hpp>
#include <buda/passes/formats/precision_rules.hpp>
#include <buda/passes/fracture/fracture.hpp>
#include <buda/passes/quantized/quantized_models.hpp>
#include <buda/passes/queues/insert_buffers.hpp>
#include <buda/passes/saved/saved_options.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::passes {

// Formats that the user sets; legality on the device comes first (assign-formats).
struct FormatOptions {
  std::optional<DataFormat> standard;    // of values, parameters and constants; nothing: by their element types
  std::optional<DataFormat> accumulate;  // nothing: by the formats of the inputs
  graph::MathFidelity fidelity = graph::MathFidelity::hifi3;
  DataFormat fp32_fallback = DataFormat::float16_b;  // stands for Float32 on devices that cannot accumulate in it
  std::vector<PrecisionRule> rules;                  // in order
};

// What may run on the host's processor (cpu-fallback).
struct FallbackOptions {
  bool enabled = true;           // false: what cannot be lowered is an error
  bool movement = false;         // movements of data near inputs and outputs go there, too
  std::int64_t most_depth = 10;  // of these: ops between them and the input or output
  // Ops that the user names and that decompositions make, such as the selection of a convolution's windows.
  std::vector<std::string> nodes = {};
};

// Counts the optional rewrites of a whole run, so that the one that breaks a model is found by bisection: with a limit of n only the
// first n are done. Passes without which a graph cannot be lowered do not ask.
class RewriteCounter {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  explicit RewriteCounter(std::uint64_t limit = kNoLimit) : limit_(limit) {}

  // Asked right before a rewrite at a node; false: leave it. Nodes that go to the host (graph/placement.hpp) are left as they are.
  bool allow(std::string_view pass, const graph::Node& at);  // pass: its name in standard_passes()
  std::uint64_t done() const { return done_; }
  // The last rewrite that was done and the first that was refused: "fuse-bias at 'fc1'"; empty when there is none.
  std::string last_done() const;
  const std::string& first_refused() const { return first_refused_; }

 private:
  std::uint64_t limit_;
  std::uint64_t done_ = 0;
  std::string_view last_done_pass_;  // names of passes live as long as the program
  std::string last_done_node_;
  std::string first_refused_;
};

// What passes may use; the same for all passes of a run.
struct PassContext {
  explicit PassContext(Host& h) : host(h) {}

  Host& host;
  const ops::Registry* ops = &ops::standard_ops();
  const DecompositionSet* decompositions = nullptr;  // null: none
  const device::DeviceDescriptor* device = nullptr;  // null: not chosen; passes with needs_device then fail
  FormatOptions formats;
  FallbackOptions fallback;
  QuantizedModels quantized = QuantizedModels::dequantize;
  SavedOptions saved;
  std::vector<FractureGroup> fractures;
  bool device_tilizes = false;         // inputs come to the device in rows (tilize-on-device)
  std::vector<BufferRequest> buffers;  // what is met is taken off (insert-buffers)
  RewriteCounter rewrites;
};

struct PassReport {
  std::size_t rewrites = 0;
  std::string note = {};  // one line for the log; empty: the counts say it all
  // The device's part of the graph, of a pass that had to lower it on trial: lower-to-device right after it need not do so again.
  std::optional<graph::Graph> lowered = {};
  bool changed() const { return rewrites != 0; }
};

struct Pass {
  std::string_view name;
  std::string_view summary;           // one line, begins with a verb
  std::optional<graph::Level> level;  // of the graphs that it works on; nothing: of both
  bool needs_device = false;
  bool keeps_results = true;  // false: later passes are verified against this pass's output
  Result<PassReport> (*run)(graph::Graph& graph, PassContext& context) = nullptr;
  // Instead of run() where the pass before has lowered the graph on trial; null: that is of no use here.
  Result<PassReport> (*run_on_trial)(graph::Graph& graph, PassContext& context, graph::Graph lowered) = nullptr;
};

// In the order in which --list-passes shows them.
const std::vector<const Pass*>& standard_passes();
// Null when there is none.
const Pass* find_pass(std::string_view name);
// Or a diagnostic with the nearest name; the place is left to the caller.
Result<const Pass*> require_pass(std::string_view name);

// Runs a pass on a graph of its level, on a device if it needs one; these are usage errors otherwise. `lowered`: PassReport::lowered of the
// pass right before.
Result<PassReport> run_pass(const Pass& pass, graph::Graph& graph, PassContext& context, std::optional<graph::Graph> lowered = {});

}  // namespace buda::passes
