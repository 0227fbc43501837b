// SPDX-License-Identifier: Apache-2.0
// Reading and running pipelines.
#include <buda/passes/pipeline/pipeline.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace buda::schema {

void Codec<passes::PassName>::read(const io::Node& node, passes::PassName& out, Reader& reader) {
  auto text = node.as_string();
  if (!text) {
    reader.error(std::move(text).failure());
    return;
  }
  if (auto pass = passes::require_pass(*text); !pass) {
    for (Diagnostic& d : pass.failure().diagnostics()) {
      d.loc = node.loc();
      reader.error(std::move(d));
    }
    return;
  }
  out.text = std::move(*text);
}

io::Node Codec<passes::PassName>::write(const passes::PassName& value) { return io::Node::string(value.text); }

io::Node Codec<passes::PassName>::json_schema() {
  std::vector<std::string> names;
  for (const passes::Pass* pass : passes::standard_passes()) names.emplace_back(pass->name);
  return detail::enum_schema(names);
}

}  // namespace buda::schema

namespace buda::passes {
namespace {

// More rounds than this are no way to reach an end that was missed so far.
constexpr std::int64_t kMaxRounds = 100;

Result<void> check(const Pipeline& pipeline, const std::string& path) {
  Failure failure;
  for (const Stage& stage : pipeline.stages) {
    auto wrong = [&](const std::string& what) { failure.add(input_error("PA004", {path}, cat("stage '", stage.name, "': ", what))); };
    if (stage.from_level < 0 || stage.from_level > kMaxOptimisation)
      wrong(cat("from_level is ", stage.from_level, "; levels are 0 to ", kMaxOptimisation));
    if (stage.rounds < 1 || stage.rounds > kMaxRounds) wrong(cat("rounds is ", stage.rounds, "; allowed are 1 to ", kMaxRounds));
    if (stage.passes.empty()) wrong("it has no passes");
  }
  if (!failure.empty()) return failure;
  return success();
}

class Runner {
 public:
  Runner(const Pipeline& pipeline, graph::Graph& graph, PassContext& context, const RunOptions& options)
      : graph_(graph), context_(context), options_(options) {
    for (const Stage& stage : pipeline.stages) passes_ += stage.passes.size();
  }

  Result<void> stage(const Stage& stage) {
    for (std::int64_t round = 1; round <= stage.rounds && !stopped_; ++round) {
      bool changed = false;
      std::string_view last;
      for (const PassName& name : stage.passes) {
        BUDA_ASSIGN(const Pass* pass, require_pass(name.text));
        if (options_.skip_other_level && pass->level && *pass->level != graph_.level) continue;
        if (!is_settled(*pass)) {
          BUDA_ASSIGN(bool did, run_one(*pass, stage.name, round));
          if (did) last = pass->name;
          changed = changed || did;
        }
        if (pass->name == options_.stop_after) {
          stopped_ = true;
          return success();
        }
      }
      if (!changed) return success();
      if (round == stage.rounds && stage.rounds > 1)
        context_.host.report(warning("PA005", {},
                                     cat("stage '", stage.name, "' was still changing the graph in its last round (", round,
                                         "), lastly by ", last, "; the result is right, but more could be done with more rounds")));
    }
    return success();
  }

  bool stopped() const { return stopped_; }
  std::vector<PassRun> take() { return std::move(runs_); }

 private:
  Result<bool> run_one(const Pass& pass, const std::string& stage, std::int64_t round) {
    PassRun run;
    run.pass = &pass;
    run.stage = stage;
    run.round = round;
    run.number = runs_.size() + 1;
    run.nodes_before = graph_.size();
    // Further rounds come on top.
    context_.host.progress(pass.name, runs_.size(), std::max(passes_, run.number));
    if (options_.before) BUDA_TRY(options_.before(run, graph_));
    auto start = std::chrono::steady_clock::now();
    BUDA_ASSIGN(run.report, run_pass(pass, graph_, context_, std::exchange(lowered_, std::nullopt)));
    lowered_ = std::exchange(run.report.lowered, std::nullopt);
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run.nodes_after = graph_.size();
    runs_.push_back(run);
    if (options_.after) BUDA_TRY(options_.after(run, graph_));
    if (run.report.changed()) {
      settled_.clear();
    } else {
      settled_.insert(&pass);
    }
    return run.report.changed();
  }

  // What a pass does depends on the graph alone: one that found nothing finds nothing until another has changed the graph.
  bool is_settled(const Pass& pass) const { return settled_.contains(&pass); }

  graph::Graph& graph_;
  PassContext& context_;
  const RunOptions& options_;
  std::size_t passes_ = 0;  // of one round
  std::vector<PassRun> runs_;
  std::optional<graph::Graph> lowered_;  // by the pass before, on trial
  std::set<const Pass*> settled_;        // those that found nothing in the graph as it is
  bool stopped_ = false;
};

std::string padded(std::string text, std::size_t width, bool right = false) {
  if (text.size() >= width) return text;
  std::string space(width - text.size(), ' ');
  return right ? space + text : text + space;
}

}  // namespace

const schema::Record<Stage>& describe(const Stage*) {
  static const auto record =
      schema::Record<Stage>("a stage of a pipeline")
          .required("name", &Stage::name, "name of the stage, for messages")
          .optional("comment", &Stage::comment, "why the stage is there")
          .optional("from_level", &Stage::from_level, "lowest optimisation level at which it runs: 0, 1 or 2")
          .optional("rounds", &Stage::rounds, "how often its passes run at most; they stop when a round changes nothing")
          .required("passes", &Stage::passes, "names of passes, in order");
  return record;
}

const schema::Record<Pipeline>& describe(const Pipeline*) {
  static const auto record = schema::Record<Pipeline>("a pipeline of the optimizer", {"buda.pipeline", 1})
                                 .optional("summary", &Pipeline::summary, "what the pipeline is for")
                                 .required("stages", &Pipeline::stages, "the stages, in order");
  return record;
}

Result<Pipeline> parse_pipeline(std::string_view text, const std::string& path) {
  BUDA_ASSIGN(io::Node node, io::parse_yaml(text, path));
  BUDA_ASSIGN(Pipeline pipeline, schema::read<Pipeline>(node));
  BUDA_TRY(check(pipeline, path));
  return pipeline;
}

Result<Pipeline> read_pipeline(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(io::Bytes bytes, fs.read(path));
  return parse_pipeline(bytes.view(), path);
}

Result<Pipeline> read_default_pipeline(Host& host) { return read_pipeline(host.fs(), host.share_dir + "/pipelines/default.yaml"); }

Result<Pipeline> pipeline_of(const std::vector<std::string>& names) {
  Pipeline pipeline;
  Stage stage;
  stage.name = "given";
  Failure failure;
  for (const std::string& name : names) {
    if (auto pass = require_pass(name); !pass) {
      failure.add(std::move(pass).failure());
    } else {
      stage.passes.push_back({name});
    }
  }
  if (!failure.empty()) return failure;
  pipeline.stages.push_back(std::move(stage));
  return pipeline;
}

Result<std::vector<PassRun>> run_pipeline(const Pipeline& pipeline, graph::Graph& graph, PassContext& context, const RunOptions& options) {
  Runner runner(pipeline, graph, context, options);
  for (const Stage& stage : pipeline.stages) {
    if (stage.from_level > options.level) continue;
    BUDA_TRY(runner.stage(stage));
    if (runner.stopped()) break;
  }
  return runner.take();
}

std::string timing_table(const std::vector<PassRun>& runs) {
  std::size_t width = 4;
  for (const PassRun& run : runs) width = std::max(width, run.pass->name.size());
  std::string out = cat(padded("pass", width), "  stage           round  rewrites     nodes        ms\n");
  double total = 0;
  for (const PassRun& run : runs) {
    total += run.seconds;
    auto tenths = static_cast<std::int64_t>(run.seconds * 1e4 + 0.5);
    out += cat(padded(std::string(run.pass->name), width), "  ", padded(run.stage, 14), "  ", padded(cat(run.round), 5, true), "  ",
               padded(cat(run.report.rewrites), 8, true), "  ", padded(cat(run.nodes_after), 8, true), "  ",
               padded(cat(tenths / 10, '.', tenths % 10), 8, true), '\n');
  }
  for (const PassRun& run : runs)
    if (!run.report.note.empty()) out += cat(run.pass->name, ": ", run.report.note, '\n');
  auto tenths = static_cast<std::int64_t>(total * 1e4 + 0.5);
  out += cat("total: ", runs.size(), " executions, ", tenths / 10, '.', tenths % 10, " ms\n");
  return out;
}

}  // namespace buda::passes
