// SPDX-License-Identifier: Apache-2.0
// Operators that pick, place and look for elements.
#include "node_import.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::onnx_frontend {
namespace {

Result<void> import_gather(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 0), shape.rank()));
  auto data = n.input(0);
  auto indices = n.input(1);
  n.output(n.result().op(n.importer().op, {data, indices}, {{"dim", axis}}));
  return success();
}

Result<void> import_gather_nd(NodeImport& n) {
  auto data = n.input(0);
  auto indices = n.input(1);
  n.output(n.result().op("gather_nd", {data, indices}, {{"batch_dims", n.integer("batch_dims", 0)}}));
  return success();
}

Result<void> import_scatter(NodeImport& n) {
  ops::AttrMap attrs;
  if (n.importer().op == "scatter_elements") {
    BUDA_ASSIGN(Shape shape, n.shape(0));
    BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", 0), shape.rank()));
    attrs["dim"] = axis;
  }
  if (std::string reduction = n.text("reduction", "none"); reduction != "none") attrs["reduction"] = reduction;
  auto data = n.input(0);
  auto indices = n.input(1);
  auto updates = n.input(2);
  n.output(n.result().op(n.importer().op, {data, indices, updates}, std::move(attrs)));
  return success();
}

Result<void> import_one_hot(NodeImport& n) {
  BUDA_ASSIGN(double depth, n.known_number(1, "depth"));
  auto indices = n.input(0);
  auto values = n.input(2);
  n.output(n.result().op("one_hot", {indices, values}, {{"depth", static_cast<std::int64_t>(depth)}, {"dim", n.integer("axis", -1)}}));
  return success();
}

Result<void> import_arg(NodeImport& n) {
  ops::AttrMap attrs{{"dim", n.integer("axis", 0)}, {"keep_dims", n.integer("keepdims", 1) != 0}};
  if (n.integer("select_last_index", 0) != 0) attrs["last"] = true;
  n.output(n.result().op(n.importer().op, {n.input(0)}, std::move(attrs)));
  return success();
}

// How many is an attribute before opset 10. The results are sorted whether asked for or not, as the operator allows.
Result<void> import_top_k(NodeImport& n) {
  std::int64_t k = n.integer("k", 0);
  if (!n.has("k")) {
    BUDA_ASSIGN(double given, n.known_number(1, "number of elements"));
    k = static_cast<std::int64_t>(given);
  }
  auto top = n.result().op("topk", {n.input(0)}, {{"k", k}, {"dim", n.integer("axis", -1)}, {"largest", n.integer("largest", 1) != 0}});
  n.output(top);
  if (top.valid()) n.output(graph::ValueRef(top.node, 1), 1);
  return success();
}

Result<void> import_cumsum(NodeImport& n) {
  BUDA_ASSIGN(double axis, n.known_number(1, "axis"));
  n.output(n.result().op("cumsum", {n.input(0)},
                         {{"dim", static_cast<std::int64_t>(axis)},
                          {"exclusive", n.integer("exclusive", 0) != 0},
                          {"reverse", n.integer("reverse", 0) != 0}}));
  return success();
}

Result<void> import_reverse_sequence(NodeImport& n) {
  auto x = n.input(0);
  auto lengths = n.input(1);
  n.output(n.result().op("reverse_sequence", {x, lengths},
                         {{"batch_dim", n.integer("batch_axis", 1)}, {"time_dim", n.integer("time_axis", 0)}}));
  return success();
}

// Which elements stay decides about the shape, so the condition must be known; then it is a gather.
Result<void> import_compress(NodeImport& n) {
  BUDA_ASSIGN(Tensor condition, n.known(1, "condition"));
  BUDA_ASSIGN(Shape shape, n.shape(0));
  auto x = n.input(0);
  std::int64_t axis = 0;
  if (n.has("axis")) {
    BUDA_ASSIGN(axis, n.axis(n.integer("axis", 0), shape.rank()));
  } else {
    shape = Shape{shape.volume().value_or(0)};
    x = n.step("flat").reshape(x, shape);
  }
  std::vector<std::int64_t> kept;
  Tensor truth = condition.cast(DType::boolean);
  auto flags = truth.as<Boolean>();
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (static_cast<bool>(flags[i])) kept.push_back(static_cast<std::int64_t>(i));
  if (condition.shape().rank() != 1 || static_cast<std::int64_t>(flags.size()) > shape[static_cast<std::size_t>(axis)])
    return n.refuse(
        cat("its condition is ", condition.describe(), "; a list no longer than axis ", axis, " of ", shape.text(), " is wanted"));
  Shape list{static_cast<std::int64_t>(kept.size())};
  auto indices = n.step("kept").constant(Tensor(std::move(list), std::move(kept)));
  n.output(n.result().op("gather", {x, indices}, {{"dim", axis}}));
  return success();
}

Result<void> import_tf_idf(NodeImport& n) {
  if (n.has("pool_strings")) return n.refuse("it counts strings; only numbers are supported");
  std::string mode = n.text("mode", "TF");
  const char* meaning = mode == "TF" ? "count" : mode == "IDF" ? "presence" : mode == "TFIDF" ? "weighted" : nullptr;
  if (meaning == nullptr) return n.refuse(cat("its mode is '", mode, "', not TF, IDF or TFIDF"));
  ops::AttrMap attrs{{"pool", n.integers("pool_int64s")},
                     {"starts", n.integers("ngram_counts")},
                     {"columns", n.integers("ngram_indexes")},
                     {"shortest", n.integer("min_gram_length", 1)},
                     {"longest", n.integer("max_gram_length", 1)},
                     {"most_skips", n.integer("max_skip_count", 0)},
                     {"mode", std::string(meaning)}};
  if (auto weights = n.floats("weights"); !weights.empty()) attrs["weights"] = std::vector<double>(weights.begin(), weights.end());
  n.output(n.result().op("ngram_counts", {n.input(0)}, std::move(attrs)));
  return success();
}

constexpr OpImporter kIndexingOps[] = {
    {"ArgMax", 1, import_arg, "argmax"},
    {"ArgMin", 1, import_arg, "argmin"},
    {"Compress", 9, import_compress},
    {"CumSum", 11, import_cumsum},
    {"Gather", 1, import_gather, "gather"},
    {"GatherElements", 11, import_gather, "gather_elements"},
    {"GatherND", 11, import_gather_nd},
    {"OneHot", 9, import_one_hot},
    {"ReverseSequence", 10, import_reverse_sequence},
    {"Scatter", 9, import_scatter, "scatter_elements"},
    {"ScatterElements", 11, import_scatter, "scatter_elements"},
    {"ScatterND", 11, import_scatter, "scatter_nd"},
    {"TfIdfVectorizer", 9, import_tf_idf},
    {"TopK", 1, import_top_k},
};

}  // namespace

std::span<const OpImporter> indexing_ops() { return kIndexingOps; }

}  // namespace buda::onnx_frontend
