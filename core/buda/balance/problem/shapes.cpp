// SPDX-License-Identifier: Apache-2.0
// Shapes of operands, as they arrive after their manipulations, next to that of the result.
#include <buda/balance/problem/shapes.hpp>

#include <buda/balance/problem/node_error.hpp>
#include <buda/balance/problem/operand_shapes.hpp>
#include <buda/balance/problem/selection.hpp>
#include <buda/balance/resources/resources.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace buda::balance {
namespace {

using netlist::TileShape;

std::optional<TileShape> arriving(const graph::Node& node, const OpSpec& spec, std::size_t input, Failure& findings) {
  auto map = netlist::TileMap::make(spec.operands[input].shape, spec.op.inputs[input].maps);
  if (const auto* error = std::get_if<netlist::MapError>(&map)) {
    findings.add(node_error("BL008", node, cat("input ", input, ": ", error->reason)));
    return std::nullopt;
  }
  return std::get<netlist::TileMap>(map).shape();
}

std::int64_t inner_of(const netlist::Op& op, const std::vector<TileShape>& in) {
  if (op.type == netlist::OpType::depthwise) return in[1].rt;
  return op.attributes.reduce_dim == netlist::Dim::r ? in[0].rt : in[0].ct;
}

// With a block as large as its result.
netlist::Op on_one_core(const OpSpec& spec) {
  netlist::Op op = spec.op;
  op.grid = {1, 1};
  op.block = {static_cast<std::int32_t>(spec.out.t), static_cast<std::int32_t>(spec.out.rt), static_cast<std::int32_t>(spec.out.ct), 1, 1};
  op.attributes.m_k = static_cast<std::int32_t>(spec.inner);
  op.attributes.u_kt = 1;
  return op;
}

// Whether the shape of the input can be looked at.
bool set_reduction(const graph::Node& node, OpSpec& spec, const TileShape& in, Failure& findings) {
  auto& a = spec.op.attributes;
  const TileShape out = spec.out;
  switch (a.reduce_dim) {
    case netlist::Dim::none:
      findings.add(node_error("BL003", node, "attribute 'dim' is missing; it is r, c or z"));
      return false;
    case netlist::Dim::r:
      if (out.rt != 1)
        findings.add(node_error("BL009", node, cat("a reduction along r gives one row of tiles, and the result has ", out.rt)));
      break;
    case netlist::Dim::c:
      if (out.ct != 1)
        findings.add(node_error("BL009", node, cat("a reduction along c gives one column of tiles, and the result has ", out.ct)));
      break;
    case netlist::Dim::z:
      // Without z all slices become one.
      if (in.t % out.t == 0) a.z = static_cast<std::int32_t>(in.t / out.t);
      break;
  }
  return true;
}

void check_tilizer(const Problem& problem, const graph::Node& node, const OpSpec& spec, Failure& findings) {
  const Origin& from = spec.operands[0].from;
  const netlist::OpInput& input = spec.op.inputs[0];
  const bool rows =
      from.source.valid() && problem.source(from.source).kind == SourceKind::input && is_float(input.format) && !is_bfp(input.format);
  if (!rows || !(input.maps == netlist::EdgeMaps{}))
    findings.add(node_error("BL043", node,
                            "the input of a tilizer is a model input in a format other than block floating point, without manipulations"));
}

void set_shapes(const Problem& problem, const graph::Node& node, OpSpec& spec, Failure& findings) {
  repeat_weights(spec);
  std::vector<TileShape> in;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    // A producer with an error of its own has no shape to speak of.
    if (spec.operands[i].shape.volume() == 0) return;
    auto shape = arriving(node, spec, i, findings);
    if (!shape) return;
    in.push_back(*shape);
  }
  auto mismatch = [&](std::size_t i, const TileShape& needed) {
    findings.add(node_error(
        "BL009", node,
        cat("input ", i, " arrives as ", in[i].text(), " where ", needed.text(), " is needed for a result of ", spec.out.text())));
  };
  if (spec.selection) {
    spec.inner = spec.selection->act_rows;
    if (const TileShape needed{spec.selection->act_matrices, spec.inner, spec.out.ct}; in[1] != needed) mismatch(1, needed);
    return;
  }
  if (has_free_operands(spec.op)) {
    for (const ShapeFinding& finding : check_free_operands(spec, in)) findings.add(node_error(finding.code, node, finding.message));
    return;
  }
  if (class_of(spec.op).inner) spec.inner = inner_of(spec.op, in);
  if (spec.op.type == netlist::OpType::reduce && !set_reduction(node, spec, in[0], findings)) return;
  if (spec.op.type == netlist::OpType::tilizer) check_tilizer(problem, node, spec, findings);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (const TileShape needed = needed_shape(on_one_core(spec), i).value_or(spec.out); in[i] != needed) mismatch(i, needed);
}

}  // namespace

Result<void> set_shapes(const Problem& problem, const graph::Node& node, OpSpec& spec) {
  Failure findings;
  set_shapes(problem, node, spec, findings);
  if (!findings.empty()) return findings;
  return success();
}

}  // namespace buda::balance
