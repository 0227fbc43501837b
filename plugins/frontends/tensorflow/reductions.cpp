// SPDX-License-Identifier: Apache-2.0
// Reductions along axes.
#include "node_import.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// Axes from the file may repeat.
Result<Dims> reduced_axes(NodeImport& n, const Shape& x) {
  BUDA_ASSIGN(Dims given, n.known_integers(1, "axes"));
  Dims axes;
  for (auto a : given) {
    BUDA_ASSIGN(auto axis, frontend::axis_of(n, a, x.rank()));
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

ops::AttrMap reduce_attrs(Dims axes, bool keep) {
  ops::AttrMap attrs{{"dims", std::move(axes)}};
  if (!keep) attrs["keep_dims"] = false;
  return attrs;
}

// The rows and columns of an image that was computed with channels first are reduced there.
Result<void> import_reduction(NodeImport& n) {
  bool keep = n.flag("keep_dims", false);
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, reduced_axes(n, x));
  Ref value = n.input(0);
  if (axes.empty()) {
    n.output_input(0);
  } else if (auto first = n.layouts().channels_first(value); first && axes == Dims{1, 2}) {
    Ref y = n.result().op(n.importer().op, {*first}, reduce_attrs({2, 3}, keep));
    n.output(keep ? n.layouts().channels_last(n.step("last"), y) : y);
  } else {
    n.output(n.result().op(n.importer().op, {value}, reduce_attrs(std::move(axes), keep)));
  }
  return success();
}

// Booleans as numbers: the largest is 1 where one is true, the smallest where all are.
Result<void> import_logical(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, reduced_axes(n, x));
  Ref value = n.input(0);
  Ref numbers = n.cast(value, DType::i32, "numbers");
  Ref reduced =
      axes.empty() ? numbers : n.step("reduced").op(n.importer().op, {numbers}, reduce_attrs(std::move(axes), n.flag("keep_dims", false)));
  n.output(n.result().op("cast", {reduced}, {{"dtype", std::string("BOOL")}}));
  return success();
}

Result<void> import_norm(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, reduced_axes(n, x));
  Ref value = n.input(0);
  Ref sum = n.step("squares").square(value);
  if (!axes.empty()) sum = n.step("sum").op("reduce_sum", {sum}, reduce_attrs(std::move(axes), n.flag("keep_dims", false)));
  n.output(n.result().sqrt(sum));
  return success();
}

constexpr OpImporter kReductionOps[] = {
    {"All", import_logical, "reduce_min", "axes known"},     {"Any", import_logical, "reduce_max", "axes known"},
    {"EuclideanNorm", import_norm, {}, "axes known"},        {"Max", import_reduction, "reduce_max", "axes known"},
    {"Mean", import_reduction, "reduce_avg", "axes known"},  {"Min", import_reduction, "reduce_min", "axes known"},
    {"Prod", import_reduction, "reduce_prod", "axes known"}, {"Sum", import_reduction, "reduce_sum", "axes known"},
};

}  // namespace

std::span<const OpImporter> reduction_ops() { return kReductionOps; }

}  // namespace buda::tensorflow_frontend
