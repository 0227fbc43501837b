// From the balancer's diagnostics to names for the optimizer.
#include <buda/compiler/hosted_selections.hpp>

#include <buda/balance/problem/node_error.hpp>
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/schema/codec.hpp>

#include <algorithm>

namespace buda::compiler {
std::optional<HostedSelections> selections_without_room(const Failure& failure) {
  if (!balance::only_pick_rows(failure)) return std::nullopt;
  HostedSelections out;
  for (const Diagnostic& d : failure.diagnostics()) out.emplace(d.node, d.message);
  return out;
}

bool name_for_host(OptimizerOptions& options, const HostedSelections& selections) {
  bool any = false;
  for (const auto& [op, why] : selections) {
    auto& nodes = options.cpu_fallback_nodes;
    if (std::find(nodes.begin(), nodes.end(), op) != nodes.end()) continue;
    nodes.push_back(op);
    any = true;
  }
  return any;
}

Diagnostic told_of_host(const std::string& op, const std::string& why) {
  Diagnostic d = warning("CO010", {}, cat("'", op, "' only picks rows, and runs on the host: ", why));
  d.node = op;
  d.hint = "--enable-cpu-fallback=false refuses the model instead, and tells what would help the op";
  return d;
}

std::string selections_text(const HostedSelections& selections) {
  return io::json_pretty(schema::Codec<HostedSelections>::write(selections));
}

Result<HostedSelections> parse_selections(std::string_view text, const std::string& file) {
  BUDA_ASSIGN(const auto node, io::parse_json(text, file));
  return schema::read<HostedSelections>(node);
}

}  // namespace buda::compiler
