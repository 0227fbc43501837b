// SPDX-License-Identifier: Apache-2.0
// The form of errors that concern a node.
#include <buda/balance/problem/node_error.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>

#include <utility>

namespace buda::balance {

Diagnostic node_error(std::string code, const graph::Node& node, const std::string& message) {
  Diagnostic d =
      input_error(std::move(code), node.loc, cat(node.is_op() ? "op '" : "node '", node.name(), "' (", node.op(), "): ", message));
  d.node = node.name();
  return d;
}

Diagnostic no_fit(std::string code, const graph::Node& node, const std::string& message) {
  Diagnostic d = node_error(std::move(code), node, message);
  d.fault = Fault::fit;
  return d;
}

}  // namespace buda::balance
