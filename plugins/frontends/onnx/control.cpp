// SPDX-License-Identifier: Apache-2.0
// Control flow: If, Loop and Scan. A chip runs one program, so how often a body runs must be known; the bodies then become part of the
// graph, as often as they run. Of an If whose condition is not known both branches do, and a selection takes the results of one.
#include "node_import.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/selections.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/onnx_pb.h>

#include <limits>
#include <utility>

namespace buda::onnx_frontend {
namespace {

using Operands = std::vector<Operand>;

// More iterations than this are no recurrence that is to become a graph.
constexpr std::int64_t kMaxIterations = 1 << 16;

Result<bool> truth(NodeImport& n, const Operand& value, std::string_view what) {
  BUDA_ASSIGN(Tensor tensor, n.known(value, what));
  if (tensor.size() != 1) return n.refuse(cat("its ", what, " is ", tensor.describe(), ", not a single boolean"));
  return static_cast<bool>(tensor.cast(DType::boolean).as<Boolean>()[0]);
}

Result<Operands> branch_results(NodeImport& n, const char* name, const char* step) {
  BUDA_ASSIGN(const auto* body, n.subgraph(name));
  BUDA_ASSIGN(Operands results, n.import_subgraph(*body, {}, step));
  if (results.size() != n.output_count()) return n.refuse(cat(name, " has ", results.size(), " results, the node ", n.output_count()));
  return results;
}

Result<void> choose_between_branches(NodeImport& n) {
  BUDA_ASSIGN(Operands yes, branch_results(n, "then_branch", "then"));
  BUDA_ASSIGN(Operands no, branch_results(n, "else_branch", "else"));
  BUDA_ASSIGN(Operands results, frontend::selected(n, n.store(), n.input(0), yes, no));
  for (std::size_t i = 0; i < results.size(); ++i) n.output(results[i], i);
  return success();
}

Result<void> import_if(NodeImport& n) {
  if (!n.is_known(0)) return choose_between_branches(n);
  BUDA_ASSIGN(bool condition, truth(n, n.operand(0), "condition (input 0)"));
  BUDA_ASSIGN(Operands results, condition ? branch_results(n, "then_branch", "then") : branch_results(n, "else_branch", "else"));
  for (std::size_t i = 0; i < results.size(); ++i) n.output(results[i], i);
  return success();
}

// Values of the iterations, one after the other along a new axis; for no iteration what the body declares.
Result<Operand> stacked(NodeImport& n, const Operands& parts, std::int64_t axis, const ::onnx::ValueInfoProto& declared,
                        std::size_t number) {
  if (parts.empty()) {
    const auto& type = declared.type().tensor_type();
    auto dtype = dtype_of(type.elem_type());
    Shape shape{0};
    bool known = dtype && type.has_shape() && axis == 0;
    for (const auto& dim : type.shape().dim()) {
      known = known && dim.has_dim_value();
      shape.push_back(dim.dim_value());
    }
    if (!known) return n.refuse(cat("its body never runs, and does not declare the complete type of result ", number));
    BUDA_ASSIGN(Tensor empty, Tensor::zeros(*dtype, std::move(shape)));
    return known_value(declared.name(), std::move(empty), Role::constant, declared.name());
  }
  std::vector<graph::Edge> edges;
  std::int64_t at = axis;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (failed(parts[i])) return computed_value(declared.name(), {});
    auto part = n.ref(parts[i]);
    BUDA_ASSIGN(auto type, n.type(parts[i]));
    if (i == 0) {
      BUDA_ASSIGN(at, n.axis(axis, type.shape.rank() + 1));
    }
    edges.emplace_back(n.step(cat("stack.", number, '.', i)).unsqueeze(part, {at}));
  }
  return computed_value(declared.name(), n.step(cat("stacked.", number)).concatenate(std::move(edges), at));
}

// Has an iteration gone wrong? Then what depends on it would only repeat its errors.
bool any_failed(const Operands& values) {
  for (const auto& v : values)
    if (failed(v)) return true;
  return false;
}

Result<void> import_loop(NodeImport& n) {
  BUDA_ASSIGN(const auto* body, n.subgraph("body"));
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  if (n.has_input(0)) {
    BUDA_ASSIGN(Tensor count, n.known(0, "trip count"));
    if (count.size() != 1) return n.refuse(cat("its trip count (input 0) is ", count.describe(), ", not a single number"));
    trips = count.cast(DType::i64).as<std::int64_t>()[0];
  }
  bool asks = n.has_input(1);
  bool goes_on = true;
  if (asks) {
    BUDA_ASSIGN(goes_on, truth(n, n.operand(1), "condition (input 1)"));
  }
  if (!asks && !n.has_input(0)) return n.refuse("it has neither a trip count nor a condition, and would never end");
  Operands states;
  for (std::size_t i = 2; i < n.input_count(); ++i) states.push_back(n.operand(i));
  std::size_t count = states.size();
  auto results_of_body = static_cast<std::size_t>(body->output_size());
  if (results_of_body < count + 1 || results_of_body - 1 != n.output_count())
    return n.refuse(
        cat("its body has ", results_of_body, " results, which does not fit ", count, " states and ", n.output_count(), " results"));
  std::vector<Operands> scans(results_of_body - 1 - count);
  for (std::int64_t i = 0; i < trips && goes_on; ++i) {
    if (i >= kMaxIterations || (!asks && trips > kMaxIterations))
      return n.refuse(cat("it runs more than ", kMaxIterations, " times, which is the limit for loops"));
    Operands arguments{known_value("iteration", Tensor::scalar(i), Role::constant, "iteration"),
                       known_value("condition", Tensor::scalar(Boolean{1}), Role::constant, "condition")};
    arguments.insert(arguments.end(), states.begin(), states.end());
    BUDA_ASSIGN(Operands results, n.import_subgraph(*body, std::move(arguments), cat(i)));
    if (any_failed(results)) return success();  // reported already; the results of this node stay undefined
    states.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(count));
    for (std::size_t k = 0; k < scans.size(); ++k) scans[k].push_back(results[1 + count + k]);
    if (asks) {
      BUDA_ASSIGN(goes_on, truth(n, results[0], cat("condition after iteration ", i)));
    }
  }
  for (std::size_t i = 0; i < count; ++i) n.output(states[i], i);
  for (std::size_t k = 0; k < scans.size(); ++k) {
    BUDA_ASSIGN(auto whole, stacked(n, scans[k], 0, body->output(static_cast<int>(1 + count + k)), count + k));
    n.output(std::move(whole), count + k);
  }
  return success();
}

// Element i of a value along an axis, without that axis.
graph::ValueRef element(NodeImport& n, graph::ValueRef value, std::int64_t axis, std::int64_t i, const std::string& step) {
  auto slice = n.step(step + ".slice").slice(value, axis, i, i + 1);
  return n.step(step).squeeze(slice, {axis});
}

struct ScanPlan {
  const ::onnx::GraphProto* body = nullptr;
  std::size_t states = 0;
  std::vector<std::int64_t> input_axes, output_axes;
  std::vector<char> input_backward, output_backward;
};

Result<ScanPlan> scan_plan(NodeImport& n, std::size_t first_input) {
  ScanPlan plan;
  BUDA_ASSIGN(plan.body, n.subgraph("body"));
  std::int64_t scanned = n.integer("num_scan_inputs", 0);
  auto values = static_cast<std::int64_t>(n.input_count() - first_input);
  if (scanned < 1 || scanned > values) return n.refuse(cat("num_scan_inputs is ", scanned, ", and it has ", values, " inputs"));
  plan.states = static_cast<std::size_t>(values - scanned);
  auto outputs = static_cast<std::size_t>(plan.body->output_size());
  if (outputs < plan.states || outputs != n.output_count())
    return n.refuse(cat("its body has ", outputs, " results, the node ", n.output_count()));
  std::size_t scans = outputs - plan.states;
  auto list = [&](const char* name, std::size_t count) {
    auto given = n.integers(name);
    given.resize(count, 0);
    return given;
  };
  auto flags = [&](std::vector<std::int64_t> given) {
    std::vector<char> out;
    for (auto v : given) out.push_back(v != 0);
    return out;
  };
  bool old = first_input == 1;  // opset 8: the first axis is the batch
  plan.input_axes =
      old ? NodeImport::Dims(static_cast<std::size_t>(scanned), 0) : list("scan_input_axes", static_cast<std::size_t>(scanned));
  plan.output_axes = list("scan_output_axes", scans);
  plan.input_backward = flags(list(old ? "directions" : "scan_input_directions", static_cast<std::size_t>(scanned)));
  plan.output_backward = flags(list("scan_output_directions", scans));
  return plan;
}

// Runs the body along the scanned inputs. `values`: states, then scanned inputs. Nothing when a body could not be imported.
Result<Operands> scan(NodeImport& n, const ScanPlan& plan, const Operands& values, const std::string& where) {
  Operands states(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(plan.states));
  std::int64_t length = 0;
  std::vector<std::int64_t> axes;
  for (std::size_t k = 0; k < plan.input_axes.size(); ++k) {
    BUDA_ASSIGN(auto type, n.type(values[plan.states + k]));
    BUDA_ASSIGN(auto axis, n.axis(plan.input_axes[k], type.shape.rank()));
    std::int64_t size = type.shape[static_cast<std::size_t>(axis)];
    if (k == 0) length = size;
    if (size != length) return n.refuse(cat("its scanned inputs have lengths ", length, " and ", size));
    axes.push_back(axis);
  }
  if (length > kMaxIterations) return n.refuse(cat("it runs ", length, " times; at most ", kMaxIterations, " are read"));
  std::vector<Operands> scans(plan.output_axes.size());
  for (std::int64_t i = 0; i < length; ++i) {
    std::string step = cat(where, i);
    Operands arguments = states;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      std::int64_t at = plan.input_backward[k] ? length - 1 - i : i;
      arguments.push_back(computed_value("element", element(n, n.ref(values[plan.states + k]), axes[k], at, cat(step, ".input.", k))));
    }
    if (any_failed(arguments)) return Operands();
    BUDA_ASSIGN(Operands results, n.import_subgraph(*plan.body, std::move(arguments), step));
    if (any_failed(results)) return Operands();
    states.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(plan.states));
    for (std::size_t k = 0; k < scans.size(); ++k) {
      auto& parts = scans[k];
      parts.insert(plan.output_backward[k] ? parts.begin() : parts.end(), results[plan.states + k]);
    }
  }
  for (std::size_t k = 0; k < scans.size(); ++k) {
    auto number = plan.states + k;
    BUDA_ASSIGN(auto whole, stacked(n, scans[k], plan.output_axes[k], plan.body->output(static_cast<int>(number)), number));
    states.push_back(std::move(whole));
  }
  return states;
}

Result<void> import_scan_of_batch(NodeImport& n) {
  if (n.has_input(0)) return n.refuse("its sequences have lengths of their own (input 0); only sequences of one length are supported");
  BUDA_ASSIGN(ScanPlan plan, scan_plan(n, 1));
  BUDA_ASSIGN(Shape shape, n.shape(1));
  if (shape.rank() == 0) return n.refuse("its first value has no batch axis");
  std::vector<Operands> batches(n.output_count());
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    Operands values;
    for (std::size_t i = 1; i < n.input_count(); ++i)
      values.push_back(computed_value("row", element(n, n.input(i), 0, b, cat(b, ".row.", i))));
    if (any_failed(values)) return success();
    BUDA_ASSIGN(Operands results, scan(n, plan, values, cat(b, '.')));
    if (results.empty()) return success();
    for (std::size_t i = 0; i < results.size() && i < batches.size(); ++i) batches[i].push_back(results[i]);
  }
  for (std::size_t i = 0; i < batches.size(); ++i) {
    BUDA_ASSIGN(auto whole, stacked(n, batches[i], 0, plan.body->output(static_cast<int>(i)), 1000 + i));
    n.output(std::move(whole), i);
  }
  return success();
}

Result<void> import_scan(NodeImport& n) {
  if (n.opset() < 9) return import_scan_of_batch(n);
  BUDA_ASSIGN(ScanPlan plan, scan_plan(n, 0));
  Operands values;
  for (std::size_t i = 0; i < n.input_count(); ++i) values.push_back(n.operand(i));
  BUDA_ASSIGN(Operands results, scan(n, plan, values, ""));
  for (std::size_t i = 0; i < results.size(); ++i) n.output(results[i], i);
  return success();
}

constexpr OpImporter kControlOps[] = {
    {"If", 1, import_if, {}, Narrow::converts, true},
    {"Loop", 1, import_loop, {}, Narrow::converts, true},
    {"Scan", 8, import_scan, {}, Narrow::converts},
};

}  // namespace

std::span<const OpImporter> control_ops() { return kControlOps; }

}  // namespace buda::onnx_frontend
