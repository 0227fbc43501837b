// Reductions over axes.
#include "node_import.hpp"

namespace buda::onnx_frontend {
namespace {

// No axes mean all, unless the node says that they mean none.
Result<void> import_reduce(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto given, n.axes_argument(1));
  NodeImport::Dims axes;
  if (given && !given->empty()) {
    BUDA_ASSIGN(axes, n.axes(*given, shape.rank()));
  } else if (n.integer("noop_with_empty_axes", 0) != 0) {
    n.output_input(0);
    return success();
  } else {
    for (std::size_t i = 0; i < shape.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.empty()) {
    n.output_input(0);
    return success();
  }
  bool keep = n.integer("keepdims", 1) != 0;
  auto x = n.input(0);
  ops::Builder& builder = n.result();
  if (n.importer().op == "reduce_sum")
    n.output(builder.reduce_sum(x, std::move(axes), keep));
  else if (n.importer().op == "reduce_avg")
    n.output(builder.reduce_avg(x, std::move(axes), keep));
  else
    n.output(builder.reduce_max(x, std::move(axes), keep));
  return success();
}

constexpr OpImporter kOps[] = {
    {"ReduceMax", 1, import_reduce, "reduce_max"},
    {"ReduceMean", 1, import_reduce, "reduce_avg"},
    {"ReduceSum", 1, import_reduce, "reduce_sum"},
};

}  // namespace

std::span<const OpImporter> reduction_ops() { return kOps; }

}  // namespace buda::onnx_frontend
