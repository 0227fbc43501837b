// SPDX-License-Identifier: Apache-2.0
// Concatenations and splits.
#include <buda/frontend/joins.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::frontend {

namespace {

using Ref = graph::ValueRef;

}  // namespace

Joined joined(ops::Builder& named, const Layouts& layouts, const std::vector<Ref>& parts, std::int64_t axis, std::size_t rank) {
  constexpr std::int64_t kFirst[] = {0, 2, 3, 1};
  const bool images =
      rank == 4 && std::all_of(parts.begin(), parts.end(), [&](Ref part) { return layouts.channels_first(part).has_value(); });
  std::vector<graph::Edge> edges;
  for (Ref part : parts) edges.emplace_back(images ? *layouts.channels_first(part) : part);
  return {named.concatenate(std::move(edges), images ? kFirst[axis] : axis), images};
}

Ref stacked(OpImport& op, const std::vector<Ref>& parts, std::int64_t axis) {
  std::vector<graph::Edge> edges;
  for (std::size_t i = 0; i < parts.size(); ++i) edges.emplace_back(op.step(cat("part", i)).unsqueeze(parts[i], {axis}));
  return op.result().concatenate(std::move(edges), axis);
}

std::vector<Ref> unstacked(OpImport& op, Ref x, std::int64_t axis, std::int64_t count) {
  std::vector<Ref> out;
  for (std::int64_t i = 0; i < count; ++i) {
    Ref slice = op.step(cat("slice", i)).slice(x, axis, i, i + 1);
    out.push_back((i == 0 ? op.result() : op.step(cat(i))).squeeze(slice, {axis}));
  }
  return out;
}

Result<Dims> equal_sizes(const OpImport& op, const Shape& x, std::int64_t axis, std::int64_t count) {
  constexpr std::int64_t kMaxParts = std::int64_t{1} << 16;
  const std::int64_t size = x[static_cast<std::size_t>(axis)];
  if (count < 1 || count > kMaxParts || size % count != 0)
    return op.refuse(cat("axis ", axis, " of its input ", x.text(), " cannot be cut into ", count, " equal parts"));
  return Dims(static_cast<std::size_t>(count), size / count);
}

Result<Dims> part_sizes(const OpImport& op, const Shape& x, std::int64_t axis, Dims given) {
  const std::int64_t size = x[static_cast<std::size_t>(axis)];
  std::int64_t known = 0;
  for (auto s : given) known += std::clamp<std::int64_t>(s, 0, size + 1);
  for (auto& s : given)
    if (s == -1) s = size - known;
  std::int64_t left = size;
  for (auto s : given) {
    if (s < 0 || s > left) return op.refuse(cat("the sizes ", list_text(given), " do not fit axis ", axis, " of ", x.text()));
    left -= s;
  }
  return given;
}

std::vector<Ref> parts_of(OpImport& op, Ref x, std::int64_t axis, const Dims& sizes) {
  std::vector<Ref> out;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out.push_back((i == 0 ? op.result() : op.step(cat(i))).slice(x, axis, start, start + sizes[i]));
    start += sizes[i];
  }
  return out;
}

}  // namespace buda::frontend
