// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings.
#include "rotary.hpp"

#include "attention_heads.hpp"

#include <buda/base/text.hpp>

#include <numeric>
#include <utility>

namespace buda::onnx_frontend {

Result<graph::ValueRef> rows_of_positions(NodeImport& n, std::size_t table, std::size_t places, std::int64_t batch, std::int64_t length,
                                          std::int64_t pairs, std::string_view step) {
  BUDA_ASSIGN(Shape shape, n.shape(table));
  BUDA_ASSIGN(auto ids, n.type(places));
  if (shape.rank() != 2 || shape[1] != pairs)
    return n.refuse(cat("its ", step, " (input ", table, ") is ", shape.text(), "; [positions, ", pairs, "] is needed"));
  graph::ValueRef rows = n.input(table), numbers = n.input(places);
  std::int64_t samples = batch;
  if (ids.shape.volume() == 1 && ids.shape.rank() <= 1) {
    // The position of the first; the others follow.
    std::vector<std::int64_t> steps(static_cast<std::size_t>(length));
    std::iota(steps.begin(), steps.end(), 0);
    graph::ValueRef along = n.step(cat(step, ".steps")).constant(Shape{length}, std::move(steps), ids.dtype);
    numbers = n.step(cat(step, ".positions")).add(numbers, along);
    samples = 1;
  } else if (ids.shape != Shape{batch, length}) {
    return n.refuse(cat("its position_ids are ", ids.shape.text(), "; [1] or [", batch, ", ", length, "] is needed"));
  }
  graph::ValueRef found = n.step(cat(step, ".rows")).op("gather", {rows, numbers}, {{"dim", std::int64_t{0}}});
  return n.step(step).reshape(found, Shape{samples, 1, length, pairs});
}

namespace {

// The halves of pairs: the first `pairs` columns and the next; or, interleaved, those of even and of odd number.
std::pair<graph::ValueRef, graph::ValueRef> halves_of_pairs(NodeImport& n, graph::ValueRef x, std::int64_t pairs, bool interleaved,
                                                            const std::string& prefix) {
  if (!interleaved) return {n.step(prefix + "first").slice(x, 3, 0, pairs), n.step(prefix + "second").slice(x, 3, pairs, 2 * pairs)};
  return {n.step(prefix + "first").slice(x, 3, 0, 2 * pairs, 2), n.step(prefix + "second").slice(x, 3, 1, 2 * pairs, 2)};
}

}  // namespace

graph::ValueRef turned(NodeImport& n, graph::ValueRef x, const Shape& heads, const Angles& angles, bool interleaved,
                       const std::string& prefix) {
  const std::int64_t pairs = angles.pairs;
  auto [a, b] = halves_of_pairs(n, x, pairs, interleaved, prefix);
  graph::ValueRef ac = n.step(prefix + "first.cosine").multiply(a, angles.cosine),
                  bs = n.step(prefix + "second.sine").multiply(b, angles.sine);
  graph::ValueRef bc = n.step(prefix + "second.cosine").multiply(b, angles.cosine),
                  as = n.step(prefix + "first.sine").multiply(a, angles.sine);
  graph::ValueRef first = n.step(prefix + "first.turned").subtract(ac, bs), second = n.step(prefix + "second.turned").add(bc, as);
  graph::ValueRef y;
  if (interleaved) {
    Shape apart = heads;
    apart[3] = pairs;
    apart.push_back(1);
    first = n.step(prefix + "first.column").reshape(first, apart);
    second = n.step(prefix + "second.column").reshape(second, apart);
    y = n.step(prefix + "pairs").concatenate({first, second}, 4);
    y = n.step(prefix + "turned").reshape(y, Shape{heads[0], heads[1], heads[2], 2 * pairs});
  } else {
    y = n.step(prefix + "turned").concatenate({first, second}, 3);
  }
  if (2 * pairs == heads[3]) return y;
  graph::ValueRef rest = n.step(prefix + "rest").slice(x, 3, 2 * pairs, heads[3]);
  return n.step(prefix + "whole").concatenate({y, rest}, 3);
}

namespace {

struct RotaryInputs {
  std::size_t cosines, sines, positions;
};

// Without positions there is a row for each sample and position: [samples, positions, pairs].
Result<graph::ValueRef> angles_of(NodeImport& n, std::size_t table, std::size_t positions, const Shape& heads, std::int64_t pairs,
                                  std::string_view step) {
  if (n.has_input(positions)) return rows_of_positions(n, table, positions, heads[0], heads[2], pairs, step);
  BUDA_ASSIGN(Shape shape, n.shape(table));
  if (shape != Shape{heads[0], heads[2], pairs})
    return n.refuse(cat("its ", step, " (input ", table, ") is ", shape.text(), "; without position_ids [", heads[0], ", ", heads[2], ", ",
                        pairs, "] is needed"));
  graph::ValueRef rows = n.input(table);
  return n.step(step).reshape(rows, Shape{heads[0], 1, heads[2], pairs});
}

}  // namespace

Result<void> import_rotary_embedding(NodeImport& n) {
  const bool ours = n.importer().op == "onnx";
  const RotaryInputs at = ours ? RotaryInputs{1, 2, 3} : RotaryInputs{2, 3, 1};
  if (n.integer("is_packed_batching", 0) != 0) return n.refuse("its samples are packed (is_packed_batching), which is not supported");
  if (n.real("scale", 1) != 1) return n.refuse(cat("its scale is ", n.real("scale", 1), "; only 1 is supported"));
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape table, n.shape(at.cosines));
  const std::int64_t given = n.integer("num_heads", 0), rotated = n.integer("rotary_embedding_dim", 0);
  if ((x.rank() != 3 && x.rank() != 4) || table.rank() < 2 || table[table.rank() - 1] < 1)
    return n.refuse(cat("its input is ", x.text(), " and its cos_cache ", table.text(), "; three or four axes and a matrix are needed"));
  const std::int64_t columns = table[table.rank() - 1];
  const bool in_heads = x.rank() == 4;
  if (rotated > 0 && given < 1 && !in_heads) return n.refuse("it has a rotary_embedding_dim, which needs num_heads");
  const std::int64_t width = in_heads ? x[3] : given > 0 ? x[2] / given : 2 * columns;
  const std::int64_t pairs = (rotated > 0 ? rotated : width) / 2;
  if (width < 1 || 2 * pairs > width || pairs != columns || (!in_heads && x[2] % width != 0))
    return n.refuse(cat("its input is ", x.text(), ", num_heads ", given, ", rotary_embedding_dim ", rotated, " and its cos_cache ",
                        table.text(), ", which do not fit each other"));
  const Shape heads = in_heads ? x : Shape{x[0], x[2] / width, x[1], width};
  graph::ValueRef value = n.input(0);
  if (!in_heads) value = split_heads(n, value, x, heads[1], "heads");
  Angles angles;
  angles.pairs = pairs;
  BUDA_ASSIGN(angles.cosine, angles_of(n, at.cosines, at.positions, heads, pairs, "cos_cache"));
  BUDA_ASSIGN(angles.sine, angles_of(n, at.sines, at.positions, heads, pairs, "sin_cache"));
  graph::ValueRef y = turned(n, value, heads, angles, n.integer("interleaved", 0) != 0);
  if (in_heads) {
    n.output(y);
    return success();
  }
  y = n.step("joined").transpose(y, {0, 2, 1, 3});
  n.output(n.result().reshape(y, x));
  return success();
}

}  // namespace buda::onnx_frontend
