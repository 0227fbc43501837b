// SPDX-License-Identifier: Apache-2.0
// What a gradient rule sees of a node, and what it gives: gradients of the node's inputs from those of its results.
#pragma once

#include <buda/autograd/term.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/table/op.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace buda::autograd {

class Backward {
 public:
  // `incoming`: by result of the node, invalid where nothing depends on it. `wanted`: by input, whether somebody asks for its gradient.
  Backward(ops::Builder& builder, const graph::Node& node, const ops::OpDef& def, std::vector<Term> incoming, std::vector<bool> wanted)
      : builder_(builder), node_(node), def_(def), incoming_(std::move(incoming)), wanted_(std::move(wanted)), given_(wanted_.size()) {}

  ops::Builder& builder() { return builder_; }
  const graph::Node& node() const { return node_; }
  ops::Attrs attrs() const { return {def_, node_.attrs}; }
  std::size_t count() const { return node_.inputs().size(); }

  Term in(std::size_t input) { return {builder_, node_.inputs()[input].source}; }
  Term result(std::uint32_t port = 0) { return {builder_, graph::ValueRef(node_.id(), port)}; }
  // The gradient of the loss with respect to a result.
  Term g(std::size_t port = 0) const { return incoming_[port]; }
  bool wants(std::size_t input) const { return input < wanted_.size() && wanted_[input]; }
  // An axis of input 0 that an attribute names, counted from the front.
  std::int64_t axis(std::string_view attr);

  // The gradient with respect to an input, as the input was broadcast: whoever calls the rule sums it. One that nobody wants is ignored.
  void give(std::size_t input, const Term& gradient) {
    if (wants(input)) given_[input] = gradient;
  }
  // In place of gradients: why there are none. The caller adds the node.
  void refuse(Diagnostic reason) { refusal_ = std::move(reason); }
  void refuse(const Failure& reasons) { refusal_ = reasons.diagnostics().front(); }

  std::span<const Term> given() const { return given_; }
  const std::optional<Diagnostic>& refusal() const { return refusal_; }

 private:
  ops::Builder& builder_;
  const graph::Node& node_;
  const ops::OpDef& def_;
  std::vector<Term> incoming_;
  std::vector<bool> wanted_;
  std::vector<Term> given_;
  std::optional<Diagnostic> refusal_;
};

}  // namespace buda::autograd
