// SPDX-License-Identifier: Apache-2.0
// Pipelines: which passes run, in which order, at which optimisation level. They are data: format buda.pipeline/1,
// docs/formats/pipeline.md.
#pragma once

#include <buda/passes/pipeline/pass.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::passes {

inline constexpr std::int64_t kMaxOptimisation = 2;

// A pass in a pipeline file. A type of its own, so that a name that no pass has is found with its place.
struct PassName {
  std::string text;
  friend bool operator==(const PassName&, const PassName&) = default;
};

// Passes that run one after the other, and with rounds > 1 again, until a round changes nothing.
struct Stage {
  std::string name;
  std::string comment;  // why the stage is there
  std::vector<PassName> passes;
  std::int64_t from_level = 0;  // the lowest optimisation level at which it runs
  std::int64_t rounds = 1;      // at most
  friend bool operator==(const Stage&, const Stage&) = default;
};

struct Pipeline {
  std::string summary;
  std::vector<Stage> stages;
  friend bool operator==(const Pipeline&, const Pipeline&) = default;
};

const schema::Record<Stage>& describe(const Stage*);
const schema::Record<Pipeline>& describe(const Pipeline*);

Result<Pipeline> parse_pipeline(std::string_view text, const std::string& path);
Result<Pipeline> read_pipeline(io::FileSystem& fs, const std::string& path);
// share/pipelines/default.yaml
Result<Pipeline> read_default_pipeline(Host& host);
// One stage with these passes, each once: for --passes.
Result<Pipeline> pipeline_of(const std::vector<std::string>& names);

// One execution of a pass.
struct PassRun {
  const Pass* pass = nullptr;
  std::string stage;
  std::int64_t round = 1;
  std::size_t number = 0;  // of all executions of the run, from 1
  // Known afterwards:
  PassReport report;
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
  double seconds = 0;
};

struct RunOptions {
  std::int64_t level = 1;
  std::string stop_after = {};  // the name of a pass: the run ends after its first execution; empty: at the end
  // Passes for another level than the graph's are left out, so that a lowered graph may go through again; otherwise they are errors.
  bool skip_other_level = true;
  // Around each execution; a failure ends the run.
  std::function<Result<void>(const PassRun&, const graph::Graph&)> before = {};
  std::function<Result<void>(const PassRun&, const graph::Graph&)> after = {};
};

// Runs the pipeline and gives what it did, in order. A pass that found nothing is left out until another one has changed the graph. A
// stage that still changes the graph after its last round is reported as a warning.
Result<std::vector<PassRun>> run_pipeline(const Pipeline& pipeline, graph::Graph& graph, PassContext& context,
                                          const RunOptions& options = {});

// A table of executions: pass, rewrites, nodes, time.
std::string timing_table(const std::vector<PassRun>& runs);

}  // namespace buda::passes

namespace buda::schema {
template <>
struct Codec<passes::PassName> {
  static void read(const io::Node& node, passes::PassName& out, Reader& reader);
  static io::Node write(const passes::PassName& value);
  static io::Node json_schema();
};
}  // namespace buda::schema
