// SPDX-License-Identifier: Apache-2.0
// Splices, embeddings and depthwise products.
#include <buda/balance/problem/operand_shapes.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/tile_rows.hpp>
#include <buda/graph/tm.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

using netlist::Dim;
using netlist::OpType;
using netlist::TileShape;

// Inputs agree with the result but for one dimension, along which they make it up.
std::vector<ShapeFinding> check_splice(OpSpec& spec, const std::vector<TileShape>& in) {
  const Dim dim = spec.splice.dim;
  if (dim == Dim::none) return {{"BL003", "attribute 'dim' is missing; it is r, c or z"}};
  const auto side = dim == Dim::z ? &TileShape::t : dim == Dim::r ? &TileShape::rt : &TileShape::ct;
  std::int64_t sum = 0;
  bool agree = true;
  std::vector<std::string> shapes;
  for (const TileShape& shape : in) {
    TileShape whole = shape;
    whole.*side = spec.out.*side;
    agree = agree && whole == spec.out;
    sum += shape.*side;
    spec.splice.sizes.push_back(shape.*side);
    shapes.push_back(shape.text());
  }
  if (agree && sum == spec.out.*side) return {};
  return {{"BL009", cat("its inputs arrive as ", join(shapes, ", "), ", which do not make up ", spec.out.text())}};
}

std::vector<ShapeFinding> check_embedding(OpSpec& spec, const std::vector<TileShape>& in) {
  const TileShape& out = spec.out;
  spec.op.attributes.num_indices = static_cast<std::int32_t>(out.rt * graph::kTileSide);
  if (!spec.operands[0].constant || !spec.operands[1].from.source.valid() || out.t != 1 || out.rt > graph::kTileSide)
    return {{"BL043", "it must look up at most 1024 indices, which are an input of the model, in one table, which is a parameter"}};
  std::vector<ShapeFinding> findings;
  const TileShape needed[] = {{1, in[0].rt, out.ct}, {1, 1, out.rt}};
  for (std::size_t i = 0; i < 2; ++i)
    if (in[i] != needed[i])
      findings.push_back({"BL009", cat("input ", i, " arrives as ", in[i].text(), " where ", needed[i].text(),
                                       " is needed for a result of ", out.text())});
  return findings;
}

}  // namespace

void repeat_weights(OpSpec& spec) {
  if (spec.op.type == OpType::depthwise && spec.out.t > 1)
    spec.op.inputs[1].maps.tms.push_back(netlist::Tm::broadcast(Dim::z, static_cast<std::int32_t>(spec.out.t)));
}

bool has_free_operands(const netlist::Op& op) { return op.type == OpType::splice || op.type == OpType::embedding; }

std::vector<ShapeFinding> check_free_operands(OpSpec& spec, const std::vector<TileShape>& in) {
  return spec.op.type == OpType::splice ? check_splice(spec, in) : check_embedding(spec, in);
}

}  // namespace buda::balance
