// SPDX-License-Identifier: Apache-2.0
// Complex numbers: one value of the graph, whose last axis holds real and imaginary parts. They come from transforms, and few operators
// take them.
#include "node_import.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

constexpr std::int64_t kMaxLength = 1 << 24;

// The numbers' axes, without that of the parts.
Result<Shape> axes_of(NodeImport& n, std::size_t i) {
  BUDA_ASSIGN(Shape shape, n.shape(i));
  return Shape(Dims(shape.begin(), shape.end() - 1));
}

// Real numbers, transformed along the last two axes: the points that the others mirror are left out along the last one.
Result<void> import_rfft(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims lengths, n.known_integers(1, "lengths"));
  const bool fits =
      x.rank() >= 2 && lengths.size() == 2 && std::all_of(lengths.begin(), lengths.end(), [](auto l) { return l > 0 && l <= kMaxLength; });
  if (!fits)
    return n.refuse(cat("its input is ", x.text(), " and its lengths are ", list_text(lengths), "; two axes and two lengths of 1 to ",
                        kMaxLength, " are needed"));
  const auto last = static_cast<std::int64_t>(x.rank()) - 1;
  Ref both = n.number(0);
  both = n.step("real").unsqueeze(both, {last + 1});
  for (std::int64_t axis : {last, last - 1})
    both = n.step("transform").op("dft", {both}, {{"dim", axis}, {"length", lengths[axis == last ? 1 : 0]}, {"onesided", axis == last}});
  n.output(both);
  return success();
}

Result<Ref> part(NodeImport& n, ops::Builder& where, Ref slice) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  return where.squeeze(slice, {static_cast<std::int64_t>(shape.rank()) - 1});
}

Result<void> import_part(NodeImport& n) {
  const std::int64_t at = n.importer().code == Code::REAL ? 0 : 1;
  Ref both = n.input(0);
  Ref slice = n.step("part").slice(both, -1, at, at + 1);
  BUDA_ASSIGN(Ref y, part(n, n.result(), slice));
  n.output_number(y);
  return success();
}

Result<void> import_absolute(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  Ref both = n.input(0);
  Ref squares = n.step("squares").square(both);
  Ref sum = n.step("sum").reduce_sum(squares, {static_cast<std::int64_t>(shape.rank()) - 1}, false);
  n.output_number(n.result().sqrt(sum));
  return success();
}

// ---- operators that only give elements other places

Result<void> import_reshape(NodeImport& n) {
  BUDA_ASSIGN(Shape x, axes_of(n, 0));
  Dims wanted;
  if (n.has_input(1)) {
    BUDA_ASSIGN(wanted, n.result_shape(1));
  } else if (const auto* given = n.options<format::ReshapeOptions>().new_shape()) {
    wanted.assign(given->begin(), given->end());
  }
  BUDA_ASSIGN(Shape target, frontend::reshape_target(n, x, wanted, false));
  target.push_back(2);
  Ref both = n.input(0);
  n.output(n.result().reshape(both, target));
  return success();
}

Result<void> import_squeeze(NodeImport& n) {
  BUDA_ASSIGN(Shape x, axes_of(n, 0));
  Dims dims;
  if (const auto* given = n.options<format::SqueezeOptions>().squeeze_dims()) dims.assign(given->begin(), given->end());
  if (dims.empty())
    for (std::size_t i = 0; i < x.rank(); ++i)
      if (x[i] == 1) dims.push_back(static_cast<std::int64_t>(i));
  BUDA_ASSIGN(dims, frontend::axes_of(n, dims, x.rank()));
  Ref both = n.input(0);
  n.output(dims.empty() ? n.result().identity(both) : n.result().squeeze(both, dims));
  return success();
}

Result<void> import_expand_dims(NodeImport& n) {
  BUDA_ASSIGN(Shape x, axes_of(n, 0));
  BUDA_ASSIGN(auto given, n.known_integer(1, "axis"));
  BUDA_ASSIGN(auto axis, frontend::axis_of(n, given, x.rank() + 1));
  Ref both = n.input(0);
  n.output(n.result().unsqueeze(both, {axis}));
  return success();
}

constexpr OpImporter kComplexOps[] = {
    {Code::COMPLEX_ABS, import_absolute},
    {Code::IMAG, import_part},
    {Code::REAL, import_part},
    {Code::RFFT2D, import_rfft, {}, Exactness::rounded, "lengths known"},
};

// Operators of other families.
constexpr OpImporter kForComplex[] = {
    {Code::EXPAND_DIMS, import_expand_dims},
    {Code::RESHAPE, import_reshape},
    {Code::SQUEEZE, import_squeeze},
};

}  // namespace

std::span<const OpImporter> complex_ops() { return kComplexOps; }

const OpImporter* complex_importer(std::int32_t code) {
  for (auto family : {std::span<const OpImporter>(kComplexOps), std::span<const OpImporter>(kForComplex)})
    for (const OpImporter& importer : family)
      if (static_cast<std::int32_t>(importer.code) == code) return &importer;
  return nullptr;
}

}  // namespace buda::tflite_frontend
