// SPDX-License-Identifier: Apache-2.0
// From the balancer's diagnostics to names for the optimizer.
#include <buda/compiler/hosted_ops.hpp>

#include <buda/balance/problem/node_error.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/json.hpp>
#include <buda/passes/integers/index_operand.hpp>
#include <buda/passes/integers/step.hpp>
#include <buda/schema/record.hpp>

#include <algorithm>

namespace buda::compiler {
namespace {

constexpr std::string_view kOrigin = "origin";  // in Diagnostic::data, once for each

// Nodes of the model by what the lowered ones call their origin.
using NodesByOrigin = std::map<std::string, std::vector<const graph::Node*>>;
NodesByOrigin nodes_by_origin(const graph::Graph& model) {
  NodesByOrigin out;
  for (const graph::NodeId id : model.ids()) {
    const graph::Node& n = model.node(id);
    if (n.kind() == graph::NodeKind::output) {
      // What brings a value to an output has the output's name.
      if (const graph::Node& giver = model.node(n.inputs()[0].source.node); giver.is_op()) out[n.name()].push_back(&giver);
      continue;
    }
    if (!n.is_op()) continue;
    out[n.name()].push_back(&n);
    for (const graph::Origin& origin : n.origins)
      if (origin.node != n.name()) out[origin.node].push_back(&n);
  }
  return out;
}

// Nodes of a graph that no importer made are no origins; what is made of them has their names before a dot.
std::vector<std::string> origins_of(const std::string& name, const Misfit& misfit, const NodesByOrigin& nodes) {
  if (!misfit.origins.empty()) return misfit.origins;
  for (std::size_t end = name.size(); end != std::string::npos && end > 0; end = name.rfind('.', end - 1))
    if (const std::string front = name.substr(0, end); nodes.contains(front)) return {front};
  return {};
}

// Whether its results are integers or booleans, or elements that it takes by their numbers. Ops of quantised models stand for floats.
bool is_of_integers(const graph::Graph& model, const graph::Node& n) {
  if (passes::is_quantised(n)) return false;
  const bool gives_integers = std::none_of(n.outputs.begin(), n.outputs.end(), [](const graph::ValueType& t) { return is_float(t.dtype); });
  return gives_integers || n.op() == "one_hot" || passes::index_operand(model, n);
}

}  // namespace

const schema::Record<Misfit>& describe(const Misfit*) {
  static const auto record = schema::Record<Misfit>("an op without room")
                                 .required("why", &Misfit::why, "what it lacks")
                                 .optional("picks_rows", &Misfit::picks_rows, "whether it only picks rows")
                                 .optional("origins", &Misfit::origins, "names of the model's nodes that it stems from");
  return record;
}

std::optional<Misfits> misfits_of(const Failure& failure) {
  Misfits out;
  for (const Diagnostic& d : failure.diagnostics()) {
    Misfit misfit{.why = d.message};
    for (const auto& [key, value] : d.data) {
      if (key == balance::kPicksRows) misfit.picks_rows = true;
      if (key == kOrigin) misfit.origins.push_back(value);
    }
    if (d.fault != Fault::fit || d.node.empty()) return std::nullopt;
    out.emplace(d.node, std::move(misfit));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

OriginsOfNodes origins_of_nodes(const graph::Graph& lowered) {
  OriginsOfNodes out;
  for (const graph::NodeId id : lowered.ids()) {
    const graph::Node& n = lowered.node(id);
    if (n.is_op())
      for (const graph::Origin& origin : n.origins) out[n.name()].push_back(origin.node);
  }
  return out;
}

Failure with_origins(Failure failure, const OriginsOfNodes& origins) {
  for (Diagnostic& d : failure.diagnostics()) {
    const auto found = d.fault == Fault::fit ? origins.find(d.node) : origins.end();
    if (found == origins.end()) continue;
    for (const std::string& name : found->second) d.data.emplace_back(kOrigin, name);
  }
  return failure;
}

std::optional<HostedOps> hosted_ops(const Misfits& misfits, const graph::Graph& model) {
  const NodesByOrigin nodes = nodes_by_origin(model);
  HostedOps out;
  for (const auto& [name, misfit] : misfits) {
    const auto is_integer_op = [&](const std::string& origin) {
      const auto found = nodes.find(origin);
      return found != nodes.end() &&
             std::all_of(found->second.begin(), found->second.end(), [&](const graph::Node* n) { return is_of_integers(model, *n); });
    };
    const std::vector<std::string> origins = origins_of(name, misfit, nodes);
    if (!origins.empty() && std::all_of(origins.begin(), origins.end(), is_integer_op)) {
      for (const std::string& origin : origins) {
        const graph::Node& first = *nodes.at(origin).front();
        const bool is_origin = std::any_of(first.origins.begin(), first.origins.end(), [&](const auto& o) { return o.node == origin; });
        out.emplace(is_origin ? origin : first.name(), HostedOp{first.op(), misfit.why});
      }
    } else if (misfit.picks_rows) {
      out.emplace(name, HostedOp{"", misfit.why});
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::vector<Diagnostic> name_for_host(OptimizerOptions& options, const HostedOps& ops) {
  std::vector<Diagnostic> told;
  for (const auto& [name, hosted] : ops) {
    auto& nodes = options.cpu_fallback_nodes;
    if (std::find(nodes.begin(), nodes.end(), name) != nodes.end()) continue;
    nodes.push_back(name);
    const std::string what =
        hosted.op.empty() ? cat('\'', name, "' only picks rows") : cat('\'', name, "' (", hosted.op, ") is of integers");
    Diagnostic d = warning("CO010", {}, cat(what, ", and runs on the host: ", hosted.why));
    d.node = name;
    d.hint = "--enable-cpu-fallback=false refuses the model instead, and tells what would help the op";
    told.push_back(std::move(d));
  }
  return told;
}

std::string misfits_text(const Misfits& misfits) { return io::json_pretty(schema::Codec<Misfits>::write(misfits)); }

Result<Misfits> parse_misfits(std::string_view text, const std::string& file) {
  BUDA_ASSIGN(const auto node, io::parse_json(text, file));
  return schema::read<Misfits>(node);
}

}  // namespace buda::compiler
