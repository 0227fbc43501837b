// SPDX-License-Identifier: Apache-2.0
// Counting in row-major order, and moving numbers of rows.
#include <buda/ops/rows/moved_rows.hpp>

#include <buda/ops/rows/free_values.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace buda::ops {
namespace {

constexpr std::int64_t kNoRow = -1;

std::int64_t product(const Shape& shape, std::size_t first, std::size_t end) {
  std::int64_t out = 1;
  for (std::size_t i = first; i < end; ++i) out *= shape[i];
  return out;
}

// What an input moves in place of its elements: row numbers, and places in the row.
struct Numbers {
  Tensor rows, places;
};

Numbers numbers_of(const Shape& shape, const RowFlow& flow, std::int64_t batch) {
  const std::int64_t part = flow.inner * product(shape, flow.axis + 1, shape.rank());
  const auto count = static_cast<std::size_t>(product(shape, 0, shape.rank()));
  std::vector<std::int64_t> rows(count), places(count);
  for (std::size_t e = 0; e < count; ++e) {
    const auto index = static_cast<std::int64_t>(e);
    rows[e] = index / part % batch;
    places[e] = index / (part * batch) * part + index % part;
  }
  return {Tensor(shape, std::move(rows)), Tensor(shape, std::move(places))};
}

// Of a constant whose elements are all the same.
std::optional<Numbers> numbers_of_equal(const RowCall& call, std::size_t input) {
  auto value = constant_value(call.graph, call.node.inputs()[input].source);
  if (!value || value->size() == 0) return std::nullopt;
  const std::string_view bytes = value->bytes();
  const std::size_t size = bytes.size() / value->size();
  for (std::size_t e = 1; e < value->size(); ++e)
    if (bytes.substr(e * size, size) != bytes.substr(0, size)) return std::nullopt;
  const Tensor none(call.shapes[input], std::vector<std::int64_t>(value->size(), kNoRow));
  return Numbers{none, none};
}

std::optional<Tensor> moved(const RowCall& call, const std::vector<Tensor>& inputs) {
  graph::Node node = call.node;
  node.outputs[0].dtype = DType::i64;
  auto out = evaluate_node(node, graph::Level::tensor, inputs);
  if (!out) return std::nullopt;
  return (*out)[0];
}

// Do the rows lie as `flow` says?
bool lie_so(std::span<const std::int64_t> rows, std::span<const std::int64_t> places, const Shape& shape, const RowFlow& flow,
            std::int64_t batch) {
  const std::int64_t part = flow.inner * product(shape, flow.axis + 1, shape.rank());
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const auto index = static_cast<std::int64_t>(e);
    const std::int64_t row = index / part % batch;
    if (rows[e] != kNoRow && rows[e] != row) return false;
    const auto first = static_cast<std::size_t>(index - row * part);
    if (places[e] != places[first] || (rows[e] == kNoRow) != (rows[first] == kNoRow)) return false;
  }
  return true;
}

}  // namespace

RowFlow reshaped_rows(const RowCall& call, const RowFlow& flow, const Shape& from, const Shape& to) {
  const std::int64_t before = product(from, 0, flow.axis) * flow.outer;
  std::optional<RowFlow> found;
  std::int64_t ahead = 1;
  for (std::size_t i = 0; i < to.rank() && ahead != 0; ahead *= to[i++]) {
    if (before % ahead != 0) continue;
    const std::int64_t outer = before / ahead, part = outer * call.batch;
    if (part == 0 || to[i] == 0 || to[i] % part != 0) continue;
    // Of a batch of one row several axes of size 1 may stand for it.
    if (call.batch == 1 && (to[i] != 1 || found)) {
      if (found) return call.unclear();
      continue;
    }
    found = RowFlow{RowFlow::Kind::rows, i, outer, to[i] / part, {}};
    if (call.batch != 1) break;
  }
  return found ? *found : call.unclear();
}

RowFlow moved_rows(const RowCall& call) {
  if (call.batch == 1) return call.unclear();
  std::vector<Tensor> rows, places;
  for (std::size_t i = 0; i < call.flows.size(); ++i) {
    if (i == 1) {
      auto indices = constant_value(call.graph, call.node.inputs()[i].source);
      if (!indices) return call.unclear();
      rows.push_back(*indices);
      places.push_back(std::move(*indices));
      continue;
    }
    auto numbers =
        call.flows[i].has_rows() ? std::optional(numbers_of(call.shapes[i], call.flows[i], call.batch)) : numbers_of_equal(call, i);
    if (!numbers) return call.unclear();
    rows.push_back(std::move(numbers->rows));
    places.push_back(std::move(numbers->places));
  }
  const auto row_numbers = moved(call, rows), place_numbers = moved(call, places);
  if (!row_numbers || !place_numbers) return call.unclear();
  const Shape& shape = call.results[0];
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 0 || shape[axis] % call.batch != 0) continue;
    const std::int64_t parts = shape[axis] / call.batch;
    for (std::int64_t inner = 1; inner <= parts; ++inner) {
      if (parts % inner != 0) continue;
      const RowFlow flow{RowFlow::Kind::rows, axis, parts / inner, inner, {}};
      if (lie_so(row_numbers->as<std::int64_t>(), place_numbers->as<std::int64_t>(), shape, flow, call.batch)) return flow;
    }
  }
  return call.mixed();
}

}  // namespace buda::ops
