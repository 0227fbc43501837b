// SPDX-License-Identifier: Apache-2.0
// Reads a graph, makes the step, tells of it, writes it.
#include "apps/autograd/run.hpp"

#include <buda/autograd/check_gradients.hpp>
#include <buda/autograd/spec.hpp>
#include <buda/autograd/training_step.hpp>
#include <buda/base/text.hpp>
#include <buda/compiler/training.hpp>
#include <buda/graph/file/graph_file.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace buda::autograd_tool {
namespace {

std::string rounded(double value) {
  std::string out(32, '\0');
  out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), "%.3g", value)));
  return out;
}

bool is_file(std::string_view text) { return text.ends_with(".json") || text.find('/') != std::string_view::npos; }

// The file in "optimizer.graph.json:lr=0.1"; empty: the text names a built-in one.
std::string optimizer_file(std::string_view optimizer) {
  const std::string_view file = autograd::spec_name(optimizer);
  return is_file(file) ? std::string(file) : "";
}

// Of a file the learning rate alone.
Result<autograd::Optimizer> parsed_optimizer(const std::string& text) {
  if (optimizer_file(text).empty()) return autograd::parse_optimizer(text);
  autograd::Optimizer out;
  BUDA_TRY(autograd::read_numbers(text, "option --optimizer", {{"lr", &out.lr, 0, std::numeric_limits<double>::max()}}));
  return out;
}

Result<autograd::StepOptions> step_options(const Options& o, cli::ToolHost& host) {
  autograd::StepOptions out;
  if (is_file(o.loss)) {
    BUDA_ASSIGN(out.loss_from_file, graph::read_graph(host.fs(), o.loss));
  } else {
    BUDA_ASSIGN(out.loss, autograd::parse_loss(o.loss));
  }
  BUDA_ASSIGN(out.optimizer, parsed_optimizer(o.optimizer));
  if (const std::string file = optimizer_file(o.optimizer); !file.empty()) {
    BUDA_ASSIGN(out.optimizer_from_file, graph::read_graph(host.fs(), file));
  }
  out.update = o.update == "plain" ? autograd::Update::plain : o.update == "float32" ? autograd::Update::float32 : autograd::Update::pairs;
  out.form = o.form == "programs" ? autograd::StepForm::programs : autograd::StepForm::step;
  out.clip_norm = o.clip_norm;
  out.clip_value = o.clip_value;
  out.prediction = o.prediction;
  out.trainable = o.trainable;
  out.frozen = o.frozen;
  if (o.initialize) out.initialize = host.seed;
  return out;
}

void report(const autograd::TrainingStep& step, cli::ToolHost& host) {
  std::int64_t elements = 0;
  for (const auto& p : step.parameters) elements += p.elements;
  host.log(0, cat(step.parameters.size(), " parameters of ", elements, " elements are trained, ", step.state_elements,
                  " elements of state; ", step.saved_elements, " elements of the forward phase are kept for the backward phase"));
  if (!step.logits.empty())
    host.log(0, cat("the loss is computed from '", step.logits, "', of which the prediction is a softmax or sigmoid"));
  if (step.doubt) host.report(*step.doubt);
  for (const std::string& name : step.unused) {
    Diagnostic d = warning("AG020", {}, cat("the loss does not depend on parameter '", name, "', which stays as it is"));
    d.node = name;
    host.report(d);
  }
  for (const auto& p : step.parameters) host.log(1, cat(p.name, ": ", p.elements, " elements"));
}

// Of a step that is made in F64, if it can be: a gradient that is 0, as that of a bias before a normalisation, is otherwise what constants
// lose to rounding.
Result<void> compare(const autograd::TrainingStep& step, graph::Graph graph, autograd::StepOptions options, cli::ToolHost& host) {
  host.progress("checking gradients", 0, 0);
  if (options.loss_from_file) options.loss_from_file = autograd::in_f64(std::move(*options.loss_from_file));
  const auto wide =
      compiler::training_step(autograd::in_f64(std::move(graph)), std::move(options), {host.plugins, host.plugin_options}, host);
  BUDA_ASSIGN(const auto checked, autograd::check_gradients(wide ? *wide : step, host.seed, host.threads));
  if (Failure wrong = autograd::wrong_gradients(checked); !wrong.empty()) return wrong;
  const auto worst = std::max_element(checked.begin(), checked.end(), [](const auto& a, const auto& b) { return a.error < b.error; });
  if (worst != checked.end())
    host.log(0, cat("the gradients of ", checked.size(), " parameters agree with differences in F64; the largest error is ",
                    rounded(worst->error), " of the largest element, of '", worst->parameter, "'"));
  return success();
}

}  // namespace

Result<void> check(const Options& o) {
  if (!is_file(o.loss)) BUDA_TRY(autograd::parse_loss(o.loss));
  BUDA_TRY(parsed_optimizer(o.optimizer));
  return success();
}

Result<void> run(const Options& o, cli::ToolHost& host) {
  BUDA_ASSIGN(auto options, step_options(o, host));
  BUDA_ASSIGN(auto graph, graph::read_graph(host.fs(), o.graph));
  BUDA_ASSIGN(const auto step, compiler::training_step(graph, options, {host.plugins, host.plugin_options}, host));
  report(step, host);
  if (o.check) BUDA_TRY(compare(step, std::move(graph), std::move(options), host));
  return graph::write_graph(host.fs(), step.graph, output_path(o), host.write_mode);
}

}  // namespace buda::autograd_tool
