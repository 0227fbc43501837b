// SPDX-License-Identifier: Apache-2.0
// Definitions of onnxruntime's own operators, as its documentation (docs/ContribOperators.md of microsoft/onnxruntime) lists their inputs,
// results and attributes.
#include "definition_rows.hpp"

namespace buda::onnx_frontend {
namespace {

const std::vector<DefinedAttribute> kActivation{
    {"activation", kText}, {"activation_alpha", kFloat}, {"activation_beta", kFloat}, {"activation_gamma", kFloat}};

std::vector<DefinedAttribute> joined(std::vector<DefinedAttribute> some, const std::vector<DefinedAttribute>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

std::vector<DefinitionRow> quantized_definitions() {
  const std::vector<DefinedAttribute> pool{{"auto_pad", kText},         {"ceil_mode", kInt},           {"channels_last", kInt},
                                           {"count_include_pad", kInt}, {"kernel_shape", kInts, true}, {"pads", kInts},
                                           {"strides", kInts}};
  return {
      {"DequantizeLinear", 1, 2, 3, {{"axis", kInt}, {"block_size", kInt}}},
      {"DynamicQuantizeMatMul", 1, 3, 5},
      {"MatMulIntegerToFloat", 1, 4, 7},
      {"MatMulNBits",
       1,
       3,
       6,
       {{"K", kInt, true}, {"N", kInt, true}, {"accuracy_level", kInt}, {"bits", kInt}, {"block_size", kInt, true}}},
      {"QGemm", 1, 6, 9, {{"alpha", kFloat}, {"transA", kInt}, {"transB", kInt}}},
      {"DynamicQuantizeLSTM",
       1,
       12,
       12,
       {{"activation_alpha", kFloats},
        {"activation_beta", kFloats},
        {"activations", ::onnx::AttributeProto::STRINGS},
        {"clip", kFloat},
        {"direction", kText},
        {"hidden_size", kInt},
        {"input_forget", kInt}},
       3,
       true,
       {3, 4, 5, 6, 7}},
      {"GatherBlockQuantized", 1, 3, 4, {{"bits", kInt}, {"block_size", kInt}, {"gather_axis", kInt}, {"quantize_axis", kInt}}},
      {"QLinearConv",
       1,
       8,
       9,
       {{"auto_pad", kText},
        {"channels_last", kInt},
        {"dilations", kInts},
        {"group", kInt},
        {"kernel_shape", kInts},
        {"pads", kInts},
        {"strides", kInts}}},
      {"QLinearReduceMean", 1, 5, 5, {{"axes", kInts, true}, {"keepdims", kInt, true}}, 1, false, {2}},
      {"QLinearAdd", 1, 7, 8, {}, 1, false, {2, 5}},
      {"QLinearAveragePool", 1, 4, 5, pool, 1, false, {2}},
      {"QLinearConcat", 1, 3, kAnyNumber, {{"axis", kInt, true}}},
      {"QLinearGlobalAveragePool", 1, 4, 5, {{"channels_last", kInt}}, 1, false, {2}},
      {"QLinearLeakyRelu", 1, 4, 5, {{"alpha", kFloat}}, 1, false, {2}},
      {"QLinearMul", 1, 7, 8, {}, 1, false, {2, 5}},
      {"QLinearSigmoid", 1, 4, 5, {}, 1, false, {2}},
      {"QLinearSoftmax", 1, 4, 5, {{"axis", kInt}, {"opset", kInt, true}}, 1, false, {2}},
      {"QLinearWhere", 1, 8, 9, {}, 1, false, {3, 6}},
      {"QuantizeLinear", 1, 2, 3, {{"axis", kInt}, {"block_size", kInt}, {"output_dtype", kInt}, {"saturate", kInt}}},
  };
}

std::vector<DefinitionRow> attention_definitions() {
  return {
      {"Attention",
       1,
       2,
       7,
       {{"do_rotary", kInt},
        {"mask_filter_value", kFloat},
        {"num_heads", kInt, true},
        {"past_present_share_buffer", kInt},
        {"qkv_hidden_sizes", kInts},
        {"rotary_embedding_dim", kInt},
        {"scale", kFloat},
        {"unidirectional", kInt}},
       2,
       true},
      {"GatedRelativePositionBias", 1, 6, 7, {{"num_heads", kInt, true}}},
      {"GroupQueryAttention",
       1,
       7,
       14,
       {{"do_rotary", kInt},
        {"k_quant_type", kText},
        {"kv_cache_bit_width", kInt},
        {"kv_num_heads", kInt, true},
        {"local_window_size", kInt},
        {"num_heads", kInt, true},
        {"qk_output", kInt},
        {"rotary_interleaved", kInt},
        {"scale", kFloat},
        {"smooth_softmax", kInt},
        {"softcap", kFloat},
        {"v_quant_type", kText}},
       4,
       true,
       {1, 2, 3, 4}},
      {"QAttention",
       1,
       5,
       9,
       {{"do_rotary", kInt},
        {"mask_filter_value", kFloat},
        {"num_heads", kInt, true},
        {"past_present_share_buffer", kInt},
        {"scale", kFloat},
        {"unidirectional", kInt}},
       2,
       true},
      {"RelativePositionBias", 1, 3, 3, {{"is_bidirectional", kInt}, {"max_distance", kInt, true}}},
      {"EmbedLayerNormalization", 1, 7, 9, {{"epsilon", kFloat}, {"mask_index_type", kInt}}, 3, true, {1, 4}},
      {"MultiHeadAttention",
       1,
       1,
       10,
       {{"mask_filter_value", kFloat}, {"num_heads", kInt, true}, {"scale", kFloat}, {"unidirectional", kInt}},
       4,
       true},
      {"RotaryEmbedding",
       1,
       4,
       4,
       {{"interleaved", kInt}, {"is_packed_batching", kInt}, {"num_heads", kInt}, {"rotary_embedding_dim", kInt}, {"scale", kFloat}}},
  };
}

}  // namespace

std::vector<DefinitionRow> runtime_definitions() {
  const std::vector<DefinedAttribute> norm{{"axis", kInt}, {"epsilon", kFloat}, {"stash_type", kInt}};
  return {
      {"LayerNormalization", 1, 2, 3, norm, 3, true},
      {"SimplifiedLayerNormalization", 1, 2, 2, norm, 2, true},
  };
}

std::vector<DefinitionRow> contrib_definitions() {
  const std::vector<DefinedAttribute> conv{{"auto_pad", kText},     {"dilations", kInts}, {"group", kInt},
                                           {"kernel_shape", kInts}, {"pads", kInts},      {"strides", kInts}};
  const std::vector<DefinedAttribute> product{{"alpha", kFloat}, {"transA", kInt}, {"transB", kInt}};
  const std::vector<DefinedAttribute> batches{{"transBatchA", kInt}, {"transBatchB", kInt}};
  const std::vector<DefinedAttribute> skip_norm{{"epsilon", kFloat}};
  std::vector<DefinitionRow> out{
      {"BiasAdd", 1, 3, 3},
      {"BiasGelu", 1, 2, 2},
      {"BiasSplitGelu", 1, 2, 2},
      {"FastGelu", 1, 1, 2},
      {"FusedConv", 1, 2, 4, joined(conv, {{"activation", kText}, {"activation_params", kFloats}})},
      {"FusedGemm", 1, 2, 3, joined(joined(product, {{"beta", kFloat}}), kActivation)},
      {"FusedMatMul", 1, 2, 2, joined(product, batches)},
      {"Gelu", 1, 1, 1},
      {"GroupNorm", 1, 3, 3, {{"activation", kInt, true}, {"channels_last", kInt}, {"epsilon", kFloat}, {"groups", kInt, true}}},
      {"QuickGelu", 1, 1, 1, {{"alpha", kFloat}}},
      {"ExpandDims", 1, 2, 2},
      {"GemmFastGelu", 1, 2, 3},
      {"GridSample", 1, 2, 2, {{"align_corners", kInt}, {"mode", kText}, {"padding_mode", kText}}},
      {"NhwcConv", 1, 2, 3, conv},
      {"Range", 1, 2, 3},
      {"SkipGroupNorm",
       1,
       4,
       5,
       {{"activation", kInt, true}, {"channels_last", kInt}, {"epsilon", kFloat}, {"groups", kInt, true}},
       2,
       true},
      {"Trilu", 1, 1, 2, {{"upper", kInt}}},
      {"SkipLayerNormalization", 1, 3, 5, skip_norm, 4, true},
      {"SkipSimplifiedLayerNormalization", 1, 3, 4, skip_norm, 4, true},
      {"TransposeMatMul", 1, 2, 2, product},
  };
  for (const auto& more : {attention_definitions(), quantized_definitions()}) out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace buda::onnx_frontend
