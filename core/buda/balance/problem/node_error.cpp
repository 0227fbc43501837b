// The form of errors that concern a node.
#include <buda/balance/problem/node_error.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>

#include <algorithm>
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

bool only_pick_rows(const Failure& failure) {
  const auto& all = failure.diagnostics();
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const Diagnostic& d) {
    return std::any_of(d.data.begin(), d.data.end(), [](const auto& entry) { return entry.first == kPicksRows; });
  });
}

}  // namespace buda::balance
