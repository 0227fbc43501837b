// SPDX-License-Identifier: Apache-2.0
// Attributes of packing go to the op that makes the result.
#include <buda/passes/sums/products.hpp>

#include <buda/passes/formats/accumulation_error.hpp>
#include <buda/passes/sums/partial_sums.hpp>
#include <buda/passes/sums/splitter.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace buda::passes {

using graph::AttrMap;

namespace {

// Tiles of a part of a product at most. A part has one tile, up to so many parts: what it rounds off does not count then, and ordering is
// what they pay for anyway.
constexpr std::int64_t kTilesOfPart = 4;
constexpr std::int64_t kPartsOfOneTile = 512;

bool flag(const AttrMap& attrs, const char* name) {
  auto it = attrs.find(name);
  const auto* value = it == attrs.end() ? nullptr : std::get_if<bool>(&it->second);
  return value != nullptr && *value;
}

// What a product has for parts: so many of so many tiles, and how each adds up.
struct Parts {
  std::int64_t count = 1, tiles = 1;
  std::optional<graph::SumBlocks> blocks;
};

Parts parts_in_steps(std::int64_t tiles) {
  const std::int64_t count = parts_of(tiles, std::clamp<std::int64_t>(tiles / kPartsOfOneTile, 1, kTilesOfPart));
  return {count, ceil_div(tiles, count), std::nullopt};
}

Parts parts_in_blocks(std::int64_t tiles) {
  const std::int64_t count = ceil_div(tiles, kMaxTilesInBlocks), least = ceil_div(tiles, count);
  const graph::SumBlocks blocks = exact_blocks(least);
  return {count, tiles_in_blocks(least, blocks), blocks};
}

Edge sliced(Splitter& s, const Edge& edge, bool along_c, std::int64_t tiles, const Parts& parts) {
  return sliced(s, filled_up(s, edge, along_c, parts.count * parts.tiles - tiles), along_c, parts.count * parts.tiles, parts.count);
}

}  // namespace

std::int64_t slices_added(const Node& n) {
  auto it = n.attrs.find("z");
  const auto* z = it == n.attrs.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return flag(n.attrs, "accumulate") && z != nullptr ? *z : 1;
}

std::optional<graph::SumBlocks> blocks_of_product(std::int64_t matrices, std::int64_t tiles) {
  if (matrices * tiles == 1 || matrices * tiles > kMaxTilesInBlocks) return std::nullopt;
  const graph::SumBlocks blocks = exact_blocks(matrices * tiles);
  if (blocks.least > tiles) return std::nullopt;
  return graph::SumBlocks{blocks.least, std::min(blocks.most, tiles)};
}

void add_up_in_blocks(Graph& graph, NodeId id) {
  Node& n = graph.node(id);
  const std::int64_t tiles = graph.type(n.inputs()[0])->shape[3] / kSide;
  const graph::SumBlocks blocks = *blocks_of_product(slices_added(n), tiles);
  set_sum_blocks(n, blocks);
  const std::int64_t more = tiles_in_blocks(tiles, blocks) - tiles;
  if (more == 0) return;
  std::vector<Edge> inputs = n.inputs();
  inputs[0].tms.push_back(Tm::pad(0, more, 0));
  inputs[1].tms.push_back(Tm::pad(more, 0, 0));
  graph.set_inputs(id, std::move(inputs));
}

void split_product(Graph& graph, NodeId id) {
  Splitter s(graph, id);
  const Node& n = graph.node(id);
  const Edge a = n.inputs()[0], b = n.inputs()[1];
  const Shape result = n.outputs[0].shape;
  const std::int64_t added = slices_added(n), tiles = s.shape(a)[3] / kSide;
  const Parts parts = added > 1 ? Parts{1, tiles, std::nullopt} : are_few(result) ? parts_in_steps(tiles) : parts_in_blocks(tiles);
  AttrMap packs;
  for (const auto& [name, value] : n.attrs)
    if (name != "bias" && name != "accumulate" && name != "z") packs[name] = value;
  std::vector<Edge> last(n.inputs().begin() + 2, n.inputs().end());
  Shape shape = result;
  shape[1] *= added * parts.count;
  const Edge products(s.op("parts", "matmul", {sliced(s, a, true, tiles, parts), sliced(s, b, false, tiles, parts)}, {}, std::move(shape)));
  if (parts.blocks) set_sum_blocks(graph.node(products.source.node), *parts.blocks);
  const std::int64_t group = added * parts.count;
  if (last.empty()) return s.replace_by(sum_of_slices(s, products, group, packs));
  const NodeId sum = sum_of_slices(s, products, group, {});
  packs["bias"] = true;
  Edge unit = s.constant("bias.unit", Shape{1, 1, result[3], result[3]}, unit_matrix(result[3]));
  unit = repeated(std::move(unit), TmDim::z, result[1]);
  last.insert(last.begin(), {Edge(sum), std::move(unit)});
  s.replace_by(s.op("biased", "matmul", std::move(last), packs, result));
}

}  // namespace buda::passes
