// SPDX-License-Identifier: Apache-2.0
// From options to tags of inputs.
#include <buda/compiler/value_ranges.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/compiler/model_input.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/passes/integers/integer_range.hpp>

#include <string_view>

namespace buda::compiler {
namespace {

constexpr std::string_view kExample = "--value-range takes NAME=LEAST:MOST, as in ids=0:50256";

Diagnostic wrong_range(const std::string& message, std::string hint) {
  Diagnostic d = usage_error("IP003", cat("option --value-range: ", message));
  d.hint = std::move(hint);
  return d;
}

std::vector<std::string> names_of_numbers(const graph::Graph& graph) {
  std::vector<std::string> out;
  for (graph::NodeId id : graph.inputs())
    if (const graph::Node& n = graph.node(id); n.outputs[0].dtype != DType::boolean) out.push_back(n.name());
  return out;
}

Diagnostic unknown_input(const graph::Graph& graph, const std::string& name) {
  std::vector<std::string> all;
  for (graph::NodeId id : graph.inputs()) all.push_back(graph.node(id).name());
  const std::vector<std::string> known = names_of_numbers(graph);
  auto near = nearest_word(name, all);
  return wrong_range(cat("the model has no input '", name, '\''), near            ? cat("did you mean '", *near, "'?")
                                                                  : known.empty() ? "it has no inputs of numbers"
                                                                                  : cat("its inputs of numbers are ", join(known, ", ")));
}

// Why this input cannot have the range; nothing if it can.
Failure refusal(const graph::Graph& graph, const std::string& name, const graph::InputRange& range) {
  const graph::NodeId id = input_of(graph, name);
  if (!id.valid()) return unknown_input(graph, name);
  const graph::Node& input = graph.node(id);
  const DType type = input.outputs[0].dtype;
  if (type == DType::boolean) {
    const std::vector<std::string> known = names_of_numbers(graph);
    return wrong_range(cat("input '", name, "' has elements of type ", dtype_name(type), "; a range is for numbers"),
                       known.empty() ? "the model has no inputs of numbers" : cat("its inputs of numbers are ", join(known, ", ")));
  }
  if (range.least > range.most)
    return wrong_range(cat("the least element of '", name, "', ", range.least, ", is larger than the largest, ", range.most),
                       std::string(kExample));
  const passes::IntegerRange of_type = passes::range_of_type(type);
  if (range.most < of_type.least || range.least > of_type.most)
    return wrong_range(
        cat("input '", name, "' has elements of type ", dtype_name(type), ", which is ", of_type.text(), ", and none is in ", range.text()),
        std::string(kExample));
  if (input.tags.contains(graph::kFixedValue))
    return wrong_range(cat("input '", name, "' has the value that --value gives"), "leave the range out");
  if (input.tags.contains(graph::kLoopback))
    return wrong_range(cat("input '", name, "' is an output of the previous step, which is not known to be in a range"),
                       "leave the range out");
  return {};
}

}  // namespace

Result<ValueRanges> parse_value_ranges(const std::vector<std::string>& texts) {
  ValueRanges out;
  Failure failure;
  for (const std::string& text : texts) {
    // A name may have a '=' of its own, a range has none.
    const auto equals = text.rfind('=');
    const auto range =
        equals == std::string::npos || equals == 0 ? std::nullopt : graph::parse_input_range(std::string_view(text).substr(equals + 1));
    if (!range)
      failure.add(
          wrong_range(cat("expected NAME=LEAST:MOST, two integers with LEAST at most MOST, found '", text, '\''), std::string(kExample)));
    else if (const std::string name = text.substr(0, equals); !out.emplace(name, std::pair{range->least, range->most}).second)
      failure.add(wrong_range(cat('\'', name, "' is given twice"), "give one range that holds all elements"));
  }
  if (!failure.empty()) return failure;
  return out;
}

Result<void> mark_value_ranges(graph::Graph& graph, const ValueRanges& ranges) {
  Failure failure;
  for (const auto& [name, bounds] : ranges) {
    const graph::InputRange range{bounds.first, bounds.second};
    Failure why = refusal(graph, name, range);
    if (why.empty())
      graph.node(input_of(graph, name)).tags[graph::kValueRange] = range.text();
    else
      failure.add(std::move(why));
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::compiler
