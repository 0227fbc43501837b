// SPDX-License-Identifier: Apache-2.0
// Axes and shapes of operators.
#include <buda/frontend/axes.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

namespace buda::frontend {

Result<std::int64_t> axis_of(const OpImport& op, std::int64_t axis, std::size_t rank) {
  auto r = static_cast<std::int64_t>(rank);
  if (axis >= -r && axis < r) return axis < 0 ? axis + r : axis;
  return op.refuse(cat("axis ", axis, " is outside [", -r, ", ", r - 1, "]: the tensor has ", rank, " axes"));
}

Result<Dims> axes_of(const OpImport& op, const Dims& axes, std::size_t rank) {
  Dims out;
  for (auto given : axes) {
    BUDA_ASSIGN(auto one, axis_of(op, given, rank));
    out.push_back(one);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) return op.refuse(cat("its axes ", list_text(axes), " name one axis twice"));
  return out;
}

Result<Dims> permutation_of(const OpImport& op, const Dims& given, std::size_t rank) {
  Dims out = given, order(rank);
  std::iota(order.begin(), order.end(), 0);
  for (auto& axis : out)
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
  if (!std::is_permutation(out.begin(), out.end(), order.begin(), order.end()))
    return op.refuse(cat("its permutation ", list_text(given), " is not one of ", rank, " axes"));
  return out;
}

Result<Shape> as_matrix(const OpImport& op, const Shape& shape, std::int64_t axis) {
  auto rows = Shape(Dims(shape.begin(), shape.begin() + axis)).volume();
  auto columns = Shape(Dims(shape.begin() + axis, shape.end())).volume();
  if (!rows || !columns) return op.refuse(cat("shape ", shape.text(), " is too large to be seen as a matrix"));
  return Shape{*rows, *columns};
}

Result<Shape> reshape_target(const OpImport& op, const Shape& from, const Dims& wanted, bool zero_copies) {
  Shape out(wanted);
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) return op.refuse(cat("its shape ", list_text(wanted), " has a size below -1"));
    if (wanted[i] == 0 && zero_copies) {
      if (i >= from.rank())
        return op.refuse(cat("its shape ", list_text(wanted), " copies dimension ", i, " of an input of shape ", from.text()));
      out[i] = from[i];
    }
    if (wanted[i] != -1) continue;
    if (open) return op.refuse(cat("its shape ", list_text(wanted), " has more than one -1"));
    open = i;
  }
  std::int64_t volume = from.volume().value_or(0);
  if (open) {
    out[*open] = 1;
    auto others = out.volume();
    if (!others || *others == 0 || volume % *others != 0)
      return op.refuse(cat("shape ", from.text(), " cannot become ", list_text(wanted), ": ", volume, " elements do not divide evenly"));
    out[*open] = volume / *others;
  }
  if (out.volume() != volume) return op.refuse(cat("shape ", from.text(), " cannot become ", out.text(), ": it has ", volume, " elements"));
  return out;
}

Result<Shape> aligned_from(const OpImport& op, Shape shape, const Shape& onto, std::int64_t axis) {
  BUDA_ASSIGN(auto begin, axis_of(op, axis, onto.rank()));
  std::size_t end = static_cast<std::size_t>(begin) + shape.rank();
  if (end > onto.rank()) return op.refuse(cat("shape ", shape.text(), " does not fit into ", onto.text(), " from axis ", begin, " on"));
  for (; end < onto.rank(); ++end) shape.push_back(1);
  return shape;
}

Shape channel_shape(std::int64_t channels, std::size_t rank) {
  Dims sizes(rank - 1, 1);
  sizes[0] = channels;
  return Shape(std::move(sizes));
}

}  // namespace buda::frontend
