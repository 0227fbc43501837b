// SPDX-License-Identifier: Apache-2.0
// Recipes as graphs, tensors and text.
#include "recipe.hpp"

#include <buda/base/text.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <algorithm>

namespace buda::trial {
namespace {

std::vector<bool> needed_steps(const Recipe& recipe) {
  std::vector<bool> needed(recipe.steps.size());
  for (const Port& p : recipe.outputs) needed[p.step] = true;
  for (std::size_t i = recipe.steps.size(); i-- > 0;)
    if (needed[i])
      for (const Port& p : recipe.steps[i].inputs) needed[p.step] = true;
  return needed;
}

graph::ValueRef built(ops::Builder& b, const Recipe& recipe, std::size_t i, const std::vector<graph::ValueRef>& refs) {
  const Step& step = recipe.steps[i];
  const std::string name = node_name(i);
  if (step.kind == StepKind::input) {
    const Tensor& t = step.results[0];
    graph::ValueRef ref = b.input(name, t.shape(), t.dtype());
    if (ref.valid() && step.promise) b.node(ref).tags["value_range"] = cat(step.promise->least, ":", step.promise->most);
    return ref;
  }
  if (step.kind == StepKind::constant) return b.named(name).constant(step.results[0]);
  std::vector<graph::Edge> edges;
  for (const Port& p : step.inputs) edges.emplace_back(graph::ValueRef(refs[p.step].node, static_cast<std::uint32_t>(p.number)));
  graph::ValueRef ref = b.named(name).op(step.op, std::move(edges), step.attrs);
  if (ref.valid()) b.node(ref).origins = {{"random", name}};
  return ref;
}

constexpr std::size_t kMaxShown = 16;

std::string numbers_text(const Tensor& t) {
  std::string out = "{";
  auto append = [&](std::size_t i, const auto& value) { out += cat(i > 0 ? ", " : "", value); };
  const std::size_t shown = std::min(t.size(), kMaxShown);
  if (is_float(t.dtype())) {
    const std::vector<float> values = t.to_f32();
    for (std::size_t i = 0; i < shown; ++i) append(i, static_cast<double>(values[i]));
  } else {
    const Tensor wide = t.cast(DType::i64);
    for (std::size_t i = 0; i < shown; ++i) append(i, wide.as<std::int64_t>()[i]);
  }
  return out + (t.size() > shown ? cat(", … ", t.size(), " in all}") : "}");
}

}  // namespace

std::size_t Recipe::ops() const {
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [](const Step& s) { return s.kind == StepKind::op; }));
}

std::string node_name(std::size_t step) { return cat("s", step); }

std::string output_name(Port port) { return cat("y", port.step, ".", port.number); }

Result<graph::Graph> graph_of(const Recipe& recipe) {
  ops::Builder b("random");
  const std::vector<bool> needed = needed_steps(recipe);
  std::vector<graph::ValueRef> refs(recipe.steps.size());
  for (std::size_t i = 0; i < recipe.steps.size(); ++i)
    if (needed[i]) refs[i] = built(b, recipe, i, refs);
  BUDA_TRY(b.status());
  for (const Port& p : recipe.outputs)
    b.output(output_name(p), graph::Edge(graph::ValueRef(refs[p.step].node, static_cast<std::uint32_t>(p.number))));
  return b.finish();
}

NamedTensors inputs_of(const Recipe& recipe) {
  const std::vector<bool> needed = needed_steps(recipe);
  NamedTensors out;
  for (std::size_t i = 0; i < recipe.steps.size(); ++i)
    if (needed[i] && recipe.steps[i].kind == StepKind::input) out.emplace(node_name(i), recipe.steps[i].results[0]);
  return out;
}

NamedTensors expected_of(const Recipe& recipe) {
  NamedTensors out;
  for (const Port& p : recipe.outputs) out.emplace(output_name(p), recipe.value(p));
  return out;
}

Result<std::vector<Tensor>> evaluate_step(const std::string& op, const std::vector<Tensor>& inputs, const graph::AttrMap& attrs) {
  ops::Builder b("step");
  std::vector<graph::Edge> edges;
  for (std::size_t i = 0; i < inputs.size(); ++i) edges.emplace_back(b.input(cat("x", i), inputs[i].shape(), inputs[i].dtype()));
  graph::ValueRef made = b.op(op, std::move(edges), attrs);
  BUDA_TRY(b.status());
  return ops::evaluate_node(b.node(made), graph::Level::tensor, inputs);
}

Result<Recipe> evaluated(Recipe recipe) {
  for (Step& step : recipe.steps) {
    if (step.kind != StepKind::op) continue;
    std::vector<Tensor> inputs;
    for (const Port& p : step.inputs) inputs.push_back(recipe.value(p));
    BUDA_ASSIGN(step.results, evaluate_step(step.op, inputs, step.attrs));
  }
  return recipe;
}

std::vector<Port> unread(const Recipe& recipe) {
  std::vector<Port> read, out;
  for (const Step& step : recipe.steps) read.insert(read.end(), step.inputs.begin(), step.inputs.end());
  for (std::size_t i = 0; i < recipe.steps.size(); ++i)
    for (std::size_t k = 0; recipe.steps[i].kind == StepKind::op && k < recipe.steps[i].results.size(); ++k)
      if (std::find(read.begin(), read.end(), Port{i, k}) == read.end()) out.push_back({i, k});
  return out;
}

Recipe without_idle_steps(const Recipe& recipe) {
  const std::vector<bool> needed = needed_steps(recipe);
  std::vector<std::size_t> places(recipe.steps.size());
  Recipe out;
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    if (!needed[i]) continue;
    places[i] = out.steps.size();
    out.steps.push_back(recipe.steps[i]);
    for (Port& p : out.steps.back().inputs) p.step = places[p.step];
  }
  for (Port p : recipe.outputs) out.outputs.push_back({places[p.step], p.number});
  return out;
}

std::string text_of(const Recipe& recipe) {
  std::string out;
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    const Step& step = recipe.steps[i];
    out += cat("  ", node_name(i), " = ");
    if (step.kind == StepKind::op) {
      out += step.op + "(";
      for (std::size_t k = 0; k < step.inputs.size(); ++k)
        out += cat(k > 0 ? ", " : "", node_name(step.inputs[k].step), step.inputs[k].number > 0 ? cat(":", step.inputs[k].number) : "");
      out += ")";
      for (const auto& [name, value] : step.attrs) out += cat(" ", name, "=", graph::attr_text(value));
      out += cat(" : ", step.results[0].describe());
    } else {
      out += step.kind == StepKind::input ? "input" : "constant";
      if (step.promise) out += cat(" value_range=", step.promise->least, ":", step.promise->most);
      out += cat(" : ", step.results[0].describe(), " ", numbers_text(step.results[0]));
    }
    out += "\n";
  }
  return out;
}

}  // namespace buda::trial
