// SPDX-License-Identifier: Apache-2.0
// The last op that computes.
#include <buda/autograd/loss_domain.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>

namespace buda::autograd {
namespace {

// The largest error of a 16-bit format next to 1.
constexpr float kRounding = 0x1p-7F;

constexpr std::array<std::string_view, 10> kMovements = {"reshape",   "transpose", "squeeze", "unsqueeze", "slice",
                                                         "broadcast", "nop",       "buffer",  "cast",      "tile"};
constexpr std::array<std::string_view, 3> kProbabilities = {"sigmoid", "softmax", "hard_sigmoid"};

bool is_one_of(std::span<const std::string_view> ops, std::string_view op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

bool is_clipped(const graph::Node& n, double least, double most) {
  auto bound = [&](std::string_view name, double otherwise) {
    const auto it = n.attrs.find(name);
    if (it == n.attrs.end()) return otherwise;
    const auto* number = std::get_if<double>(&it->second);
    return number != nullptr ? *number : otherwise;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return n.op() == "clip" && bound("min", -kInfinity) >= least && bound("max", kInfinity) <= most;
}

}  // namespace

LossDomain domain_of(LossKind kind) {
  switch (kind) {
    case LossKind::bce:
      return LossDomain::probabilities;
    case LossKind::nll:
    case LossKind::kl_div:
      return LossDomain::logarithms;
    default:
      return LossDomain::any;
  }
}

std::string_view domain_name(LossDomain domain) {
  return domain == LossDomain::probabilities ? "probabilities"
         : domain == LossDomain::logarithms  ? "logarithms of probabilities"
                                             : "numbers";
}

bool is_in_domain(const graph::Graph& graph, graph::ValueRef value, LossDomain domain) {
  if (domain == LossDomain::any) return true;
  const graph::Node* n = &graph.node(value.node);
  while (is_one_of(kMovements, n->op())) n = &graph.node(n->inputs()[0].source.node);
  if (domain == LossDomain::probabilities) return is_one_of(kProbabilities, n->op()) || is_clipped(*n, 0, 1);
  if (n->op() == "log") return is_in_domain(graph, n->inputs()[0].source, LossDomain::probabilities);
  return n->op() == "log_softmax" || is_clipped(*n, -std::numeric_limits<double>::infinity(), 0);
}

std::optional<Diagnostic> domain_doubt(const graph::Graph& graph, graph::ValueRef prediction, const graph::Node& output, LossKind kind) {
  const LossDomain domain = domain_of(kind);
  if (is_in_domain(graph, prediction, domain)) return std::nullopt;
  const graph::Node& n = graph.node(prediction.node);
  Diagnostic d = warning("AG017", output.loc,
                         cat("the loss ", loss_name(kind), " takes ", domain_name(domain), ", and nothing says that the prediction '",
                             output.name(), "' holds them: it is the result of '", n.name(), "' (", n.op(), ')'));
  d.node = n.name();
  d.hint = kind == LossKind::bce   ? "of logits: --loss bce_with_logits"
           : kind == LossKind::nll ? "of logits: --loss cross_entropy"
                                   : "let the model end with a log_softmax";
  return d;
}

bool is_in_domain(float number, LossDomain domain) {
  if (domain == LossDomain::any) return true;
  if (domain == LossDomain::logarithms) return number <= kRounding;
  return number >= -kRounding && number <= 1 + kRounding;
}

}  // namespace buda::autograd
