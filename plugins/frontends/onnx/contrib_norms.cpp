// SPDX-License-Identifier: Apache-2.0
// onnxruntime's normalisations: of sums, of embeddings, and of groups of channels that are the last axis.
#include "root_mean_square.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

constexpr double kSkipEpsilon = 1e-12;  // the standard of these operators

// x + skip + bias, of inputs 0, 1 and `bias`.
Result<Ref> sum_of_skip(NodeImport& n, std::size_t bias) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape skip, n.shape(1));
  if (x.rank() < 2 || broadcast(x, skip) != x) return n.refuse(cat("its skip ", skip.text(), " does not fit its input ", x.text()));
  Ref value = n.input(0), beside = n.input(1);
  Ref sum = n.step("sum").add(value, beside);
  if (!n.has_input(bias)) return sum;
  Ref more = n.input(bias);
  return n.step("sum.biased").add(sum, more);
}

// Inputs: x, skip, gamma, beta, bias. Results: y, the mean, 1 / deviation, the sum that is normalised.
Result<void> import_skip_layer_norm(NodeImport& n) {
  for (std::size_t i : {1u, 2u})
    if (n.has_output(i)) return n.refuse(cat("its result ", i, " (a statistic for training) is used, which is not supported"));
  const double epsilon = n.real("epsilon", kSkipEpsilon);
  BUDA_ASSIGN(auto type, n.type(0));
  const bool simplified = n.importer().op == "root_mean_square";
  BUDA_ASSIGN(Ref sum, sum_of_skip(n, simplified ? 3 : 4));
  n.output(sum, 3);
  if (simplified) {
    Ref scale = n.input(2);
    n.output(root_mean_square(n, sum, scale, type, static_cast<std::int64_t>(type.shape.rank()) - 1, epsilon).normalized);
    return success();
  }
  std::vector<graph::Edge> inputs{sum, n.input(2)};
  if (n.has_input(3)) inputs.emplace_back(n.input(3));
  n.output(n.result().op("layernorm", std::move(inputs), {{"dim", std::int64_t{-1}}, {"epsilon", epsilon}}));
  return success();
}

// ---- EmbedLayerNormalization: words, positions and segments, each looked up in a table, added and normalised

enum EmbedInput : std::size_t { kIds, kSegments, kWords, kPositions, kSegmentTable, kGamma, kBeta, kWordMask, kPositionIds };

Result<Ref> position_rows(NodeImport& n, std::int64_t length) {
  BUDA_ASSIGN(Shape table, n.shape(kPositions));
  if (table.rank() != 2) return n.refuse(cat("its position_embedding is ", table.text(), "; a matrix is needed"));
  Ref rows = n.input(kPositions);
  if (n.has_input(kPositionIds)) {
    Ref ids = n.input(kPositionIds);
    return n.step("positions").op("gather", {rows, ids}, {{"dim", std::int64_t{0}}});
  }
  if (table[0] < length) return n.refuse(cat("its position_embedding is ", table.text(), ", too short for ", length, " words"));
  return n.step("positions").slice(rows, 0, 0, length);
}

// How many words of each sample there are; without a mask onnxruntime gives zeros.
Result<void> output_mask_index(NodeImport& n, std::int64_t samples) {
  if (!n.has_output(1)) return success();
  if (!n.has_input(kWordMask)) {
    BUDA_ASSIGN(Tensor zeros, Tensor::zeros(DType::i32, Shape{samples}));
    n.output_known(std::move(zeros), 1);
    return success();
  }
  Ref mask = n.input(kWordMask);
  n.output(n.step("mask_index").reduce_sum(mask, {1}, false), 1);
  return success();
}

Result<void> import_embed_layer_norm(NodeImport& n) {
  BUDA_ASSIGN(Shape ids, n.shape(kIds));
  if (ids.rank() != 2) return n.refuse(cat("its input_ids are ", ids.text(), "; [samples, words] are needed"));
  if (n.has_input(kSegments) != n.has_input(kSegmentTable)) return n.refuse("of segment_ids and segment_embedding it has just one");
  Ref table = n.input(kWords), numbers = n.input(kIds);
  Ref sum = n.step("words").op("gather", {table, numbers}, {{"dim", std::int64_t{0}}});
  BUDA_ASSIGN(Ref positions, position_rows(n, ids[1]));
  sum = n.step("words.placed").add(sum, positions);
  if (n.has_input(kSegments)) {
    Ref rows = n.input(kSegmentTable), segments = n.input(kSegments);
    Ref kinds = n.step("segments").op("gather", {rows, segments}, {{"dim", std::int64_t{0}}});
    sum = n.step("embedding_sum").add(sum, kinds);
  }
  std::vector<graph::Edge> inputs{sum, n.input(kGamma), n.input(kBeta)};
  n.output(n.result().op("layernorm", std::move(inputs), {{"dim", std::int64_t{-1}}, {"epsilon", n.real("epsilon", kSkipEpsilon)}}));
  n.output(sum, 2);
  return output_mask_index(n, ids[0]);
}

// ---- GroupNorm of images, with channels first or last; activation 1 is x times its sigmoid

// The image; of SkipGroupNorm plus its skip (an image, or a number for each sample and channel) and bias.
Result<Ref> sum_of_images(NodeImport& n, const Shape& x, bool last) {
  Ref value = n.input(0);
  if (n.importer().op != "skip") return value;
  if (!last) return n.refuse("its channels are first (channels_last 0), which is not supported");
  BUDA_ASSIGN(Shape skip, n.shape(3));
  Ref beside = n.input(3);
  if (skip == Shape{x[0], x[3]}) {
    skip = Shape{x[0], 1, 1, x[3]};
    beside = n.step("skip").reshape(beside, skip);
  }
  if (broadcast(x, skip) != x) return n.refuse(cat("its skip ", skip.text(), " does not fit its input ", x.text()));
  value = n.step("sum").add(value, beside);
  if (n.has_input(4)) {
    Ref bias = n.input(4);
    value = n.step("sum.biased").add(value, bias);
  }
  n.output(value, 1);
  return value;
}

Result<void> import_group_norm(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  const Shape& x = type.shape;
  const bool last = n.integer("channels_last", 1) != 0;
  const std::int64_t groups = n.integer("groups", 0), activation = n.integer("activation", 0);
  if (x.rank() != 4) return n.refuse(cat("its input is ", x.text(), "; four axes are needed"));
  if (activation != 0 && activation != 1) return n.refuse(cat("its activation is ", activation, "; 0 and 1 are supported"));
  const Shape first = last ? Shape{x[0], x[3], x[1], x[2]} : x;
  BUDA_ASSIGN(Shape gamma, n.shape(1));
  BUDA_ASSIGN(Shape beta, n.shape(2));
  if (groups < 1 || first[1] % groups != 0) return n.refuse(cat(first[1], " channels do not divide into ", groups, " groups"));
  if (gamma != Shape{first[1]} || beta != gamma)
    return n.refuse(
        cat("its gamma is ", gamma.text(), " and its beta ", beta.text(), "; one number for each of ", first[1], " channels is needed"));
  BUDA_ASSIGN(Ref value, sum_of_images(n, x, last));
  if (last) value = n.step("first").transpose(value, {0, 3, 1, 2});
  Ref lines = n.step("lines").reshape(value, Shape{first[0] * groups, first[1] / groups * first[2] * first[3]});
  Ref normal = n.step("normal").op("layernorm", {lines}, {{"dim", std::int64_t{-1}}, {"epsilon", n.real("epsilon", 1e-5)}});
  normal = n.step("channels").reshape(normal, first);
  Ref scale = n.input(1), bias = n.input(2);
  scale = n.step("gamma").reshape(scale, Shape{first[1], 1, 1});
  bias = n.step("beta").reshape(bias, Shape{first[1], 1, 1});
  Ref y = n.step("scaled").multiply(normal, scale);
  y = (last || activation != 0 ? n.step("moved") : n.result()).add(y, bias);
  if (activation != 0) {
    Ref gate = n.step("gate").sigmoid(y);
    y = (last ? n.step("active") : n.result()).multiply(y, gate);
  }
  n.output(last ? n.result().transpose(y, {0, 2, 3, 1}) : y);
  return success();
}

constexpr OpImporter kContribNormOps[] = {
    {"EmbedLayerNormalization", 1, import_embed_layer_norm},
    {"GroupNorm", 1, import_group_norm},
    {"SkipGroupNorm", 1, import_group_norm, "skip"},
    {"SkipLayerNormalization", 1, import_skip_layer_norm},
    {"SkipSimplifiedLayerNormalization", 1, import_skip_layer_norm, "root_mean_square"},
};

}  // namespace

std::span<const OpImporter> contrib_norm_ops() { return kContribNormOps; }

}  // namespace buda::onnx_frontend
