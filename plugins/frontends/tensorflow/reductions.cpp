// SPDX-License-Identifier: Apache-2.0
// Reductions along axes.
#include "node_import.hpp"

#include <buda/frontend/reductions.hpp>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<Dims> reduced_axes(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims given, n.known_integers(1, "axes"));
  return frontend::reduced_axes(n, given, x.rank());
}

Result<void> import_reduction(NodeImport& n) {
  BUDA_ASSIGN(Dims axes, reduced_axes(n));
  if (axes.empty()) {
    n.output_input(0);
    return success();
  }
  Ref value = n.input(0);
  n.output(frontend::reduced(n, n.layouts(), value, std::string(n.importer().op), std::move(axes), n.flag("keep_dims", false)));
  return success();
}

Result<void> import_logical(NodeImport& n) {
  BUDA_ASSIGN(Dims axes, reduced_axes(n));
  Ref value = n.input(0);
  n.output(frontend::reduced_truths(n, value, std::string(n.importer().op), std::move(axes), n.flag("keep_dims", false)));
  return success();
}

Result<void> import_norm(NodeImport& n) {
  BUDA_ASSIGN(Dims axes, reduced_axes(n));
  Ref value = n.input(0);
  Ref sum = n.step("squares").square(value);
  if (!axes.empty()) sum = n.step("sum").op("reduce_sum", {sum}, frontend::reduce_attrs(std::move(axes), n.flag("keep_dims", false)));
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
