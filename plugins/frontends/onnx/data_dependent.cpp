// SPDX-License-Identifier: Apache-2.0
// Operators whose result's shape depends on values: NonZero, Unique, NonMaxSuppression. A graph has fixed shapes, so they are read where
// all that they look at is known, and their results are constants.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

namespace buda::onnx_frontend {
namespace {

Tensor list(std::vector<std::int64_t> values) {
  Shape shape{static_cast<std::int64_t>(values.size())};
  return Tensor(std::move(shape), std::move(values));
}

// Row d of the result: coordinate d of all elements that are not 0, in row-major order.
Result<void> import_non_zero(NodeImport& n) {
  BUDA_ASSIGN(Tensor x, n.known(0, "value"));
  Tensor truth = x.cast(DType::boolean);
  auto flags = truth.as<Boolean>();
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (static_cast<bool>(flags[i])) found.push_back(static_cast<std::int64_t>(i));
  std::vector<std::int64_t> strides = x.shape().strides(), out;
  for (std::size_t axis = 0; axis < x.shape().rank(); ++axis)
    for (auto i : found) out.push_back(i / strides[axis] % x.shape()[axis]);
  Shape shape{static_cast<std::int64_t>(x.shape().rank()), static_cast<std::int64_t>(found.size())};
  n.output_known(Tensor(std::move(shape), std::move(out)));
  return success();
}

// ---- Unique: slices along an axis (or single elements), each once

struct Slices {
  std::int64_t count = 0;
  std::int64_t length = 0;
  std::vector<std::int64_t> offsets;  // count * length: where the elements of each slice lie
};

Slices slices_of(const Shape& shape, std::optional<std::int64_t> axis) {
  Slices out;
  std::int64_t volume = shape.volume().value_or(0);
  if (!axis) {
    out.count = volume;
    out.length = 1;
    out.offsets.resize(static_cast<std::size_t>(volume));
    std::iota(out.offsets.begin(), out.offsets.end(), 0);
    return out;
  }
  std::int64_t inner = shape.strides()[static_cast<std::size_t>(*axis)];
  out.count = shape[static_cast<std::size_t>(*axis)];
  out.length = out.count == 0 ? 0 : volume / out.count;
  for (std::int64_t s = 0; s < out.count; ++s)
    for (std::int64_t i = 0; i < out.length; ++i) out.offsets.push_back((i / inner * out.count + s) * inner + i % inner);
  return out;
}

Result<void> import_unique(NodeImport& n) {
  BUDA_ASSIGN(Tensor x, n.known(0, "value"));
  std::optional<std::int64_t> axis;
  if (n.has("axis")) {
    BUDA_ASSIGN(axis, n.axis(n.integer("axis", 0), x.shape().rank()));
  }
  Slices slices = slices_of(x.shape(), axis);
  // As numbers that keep the order of the elements: doubles, or integers where those are wider.
  DType wide = is_float(x.dtype()) ? DType::f64 : x.dtype() == DType::u64 ? DType::u64 : DType::i64;
  Tensor numbers = x.cast(wide);
  std::vector<std::int64_t> order(static_cast<std::size_t>(slices.count));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int64_t> group(order.size());  // of each slice: the number of its kind, in rising order
  std::vector<std::int64_t> first, counts;        // of each kind
  visit_dtype(wide, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>) {
      auto v = numbers.as<T>();
      auto less = [&](std::int64_t a, std::int64_t b) {
        for (std::int64_t i = 0; i < slices.length; ++i) {
          T p = v[static_cast<std::size_t>(slices.offsets[static_cast<std::size_t>(a * slices.length + i)])];
          T q = v[static_cast<std::size_t>(slices.offsets[static_cast<std::size_t>(b * slices.length + i)])];
          if (p < q || (p == p && q != q)) return true;  // NaN comes last
          if (q < p || (q == q && p != p)) return false;
        }
        return false;
      };
      std::stable_sort(order.begin(), order.end(), less);
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || less(order[i - 1], order[i])) {
          first.push_back(order[i]);
          counts.push_back(0);
        }
        ++counts.back();
        group[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(first.size()) - 1;
      }
    }
  });
  std::vector<std::int64_t> kinds(first.size());  // in the order of the result
  std::iota(kinds.begin(), kinds.end(), 0);
  if (n.integer("sorted", 1) == 0)
    std::sort(kinds.begin(), kinds.end(),
              [&](auto a, auto b) { return first[static_cast<std::size_t>(a)] < first[static_cast<std::size_t>(b)]; });
  std::vector<std::int64_t> position(kinds.size()), indices, result_counts, inverse;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    auto kind = static_cast<std::size_t>(kinds[i]);
    position[kind] = static_cast<std::int64_t>(i);
    indices.push_back(first[kind]);
    result_counts.push_back(counts[kind]);
  }
  for (auto g : group) inverse.push_back(position[static_cast<std::size_t>(g)]);
  Shape shape{static_cast<std::int64_t>(kinds.size())};
  if (axis) {
    shape = x.shape();
    shape[static_cast<std::size_t>(*axis)] = static_cast<std::int64_t>(kinds.size());
  }
  std::size_t size = dtype_size(x.dtype());
  std::string bytes(static_cast<std::size_t>(shape.volume().value_or(0)) * size, '\0');
  Slices target = slices_of(shape, axis);
  for (std::size_t i = 0; i < indices.size(); ++i)
    for (std::int64_t k = 0; k < slices.length; ++k) {
      auto from = static_cast<std::size_t>(slices.offsets[static_cast<std::size_t>(indices[i] * slices.length + k)]);
      auto to = static_cast<std::size_t>(target.offsets[i * static_cast<std::size_t>(slices.length) + static_cast<std::size_t>(k)]);
      std::memcpy(bytes.data() + to * size, x.bytes().data() + from * size, size);
    }
  BUDA_ASSIGN(Tensor unique, Tensor::from_bytes(x.dtype(), std::move(shape), io::Bytes(std::move(bytes))));
  n.output_known(std::move(unique), 0);
  n.output_known(list(std::move(indices)), 1);
  n.output_known(list(std::move(inverse)), 2);
  n.output_known(list(std::move(result_counts)), 3);
  return success();
}

// ---- NonMaxSuppression

// A box by its corners, in order.
struct Box {
  float y1, x1, y2, x2;
  float area() const { return (y2 - y1) * (x2 - x1); }
};

Box box_of(const float* v, bool center) {
  if (center) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

float overlap(const Box& a, const Box& b) {
  float height = std::max(0.0f, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  float width = std::max(0.0f, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  float both = height * width, all = a.area() + b.area() - both;
  return all > 0 ? both / all : 0;
}

// Boxes by falling score, each unless it overlaps too much with one that was taken before it; for each batch and class.
Result<void> import_non_max_suppression(NodeImport& n) {
  BUDA_ASSIGN(Tensor boxes, n.known(0, "boxes"));
  BUDA_ASSIGN(Tensor scores, n.known(1, "scores"));
  std::int64_t most = 0;
  float overlap_limit = 0, score_limit = -std::numeric_limits<float>::infinity();
  if (n.has_input(2)) {
    BUDA_ASSIGN(Tensor given, n.known(2, "number of boxes"));
    if (given.size() != 1) return n.refuse(cat("its number of boxes is ", given.describe()));
    most = given.cast(DType::i64).as<std::int64_t>()[0];
  }
  for (auto [i, limit] : {std::pair(3, &overlap_limit), std::pair(4, &score_limit)})
    if (n.has_input(static_cast<std::size_t>(i))) {
      BUDA_ASSIGN(double given, n.known_number(static_cast<std::size_t>(i), "threshold"));
      *limit = static_cast<float>(given);
    }
  const Shape &b = boxes.shape(), &s = scores.shape();
  if (b.rank() != 3 || s.rank() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2] || boxes.dtype() != DType::f32 ||
      scores.dtype() != DType::f32)
    return n.refuse(
        cat("its boxes are ", boxes.describe(), " and its scores ", scores.describe(), "; expected [n, k, 4] and [n, classes, k]"));
  bool center = n.integer("center_point_box", 0) != 0;
  std::vector<std::int64_t> out;
  for (std::int64_t batch = 0; batch < s[0]; ++batch)
    for (std::int64_t c = 0; c < s[1]; ++c) {
      const float* score = scores.as<float>().data() + (batch * s[1] + c) * s[2];
      const float* corner = boxes.as<float>().data() + batch * b[1] * 4;
      std::vector<std::int64_t> order;
      for (std::int64_t i = 0; i < s[2]; ++i)
        if (score[i] > score_limit) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](auto p, auto q) { return score[p] > score[q]; });
      std::vector<Box> taken;
      for (auto i : order) {
        if (static_cast<std::int64_t>(taken.size()) >= most) break;
        Box box = box_of(corner + i * 4, center);
        if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return overlap(box, other) > overlap_limit; })) continue;
        taken.push_back(box);
        out.insert(out.end(), {batch, c, i});
      }
    }
  Shape shape{static_cast<std::int64_t>(out.size() / 3), 3};
  n.output_known(Tensor(std::move(shape), std::move(out)));
  return success();
}

constexpr OpImporter kDataDependentOps[] = {
    {"NonMaxSuppression", 10, import_non_max_suppression},
    {"NonZero", 9, import_non_zero},
    {"Unique", 11, import_unique},
};

}  // namespace

std::span<const OpImporter> data_dependent_ops() { return kDataDependentOps; }

}  // namespace buda::onnx_frontend
