// SPDX-License-Identifier: Apache-2.0
// Definitions of opsets 18 to 25, which are newer than libonnx, and those of onnxruntime's own operators.
//
// The table holds the number of inputs and results and the attributes, as ONNX's operator documents (docs/Changelog.md of onnx/onnx) list
// them, and libonnx's checker compares nodes with it. A definition is left out where only the element types or the accepted texts
// changed since an older one: those are for the importers to judge, and the older definition says the same about the rest of a node.
#include "definitions.hpp"
#include "definition_rows.hpp"
#include "model.hpp"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <map>

namespace buda::onnx_frontend {
namespace {

using ::onnx::OpSchema;
using ::onnx::OpSchemaRegistry;

std::vector<DefinedAttribute> with(std::vector<DefinedAttribute> some, std::initializer_list<DefinedAttribute> more) {
  some.insert(some.end(), more);
  return some;
}

std::vector<DefinitionRow> newer_definitions() {
  const std::vector<DefinedAttribute> window{{"dilations", kInts}, {"pads", kInts}, {"strides", kInts}};
  const std::vector<DefinedAttribute> pool = with(window, {{"auto_pad", kText}, {"ceil_mode", kInt}, {"kernel_shape", kInts, true}});
  const std::vector<DefinedAttribute> reduction{{"keepdims", kInt}, {"noop_with_empty_axes", kInt}};
  const std::vector<DefinedAttribute> group_norm{{"epsilon", kFloat}, {"num_groups", kInt, true}};
  const std::vector<DefinedAttribute> attention{{"is_causal", kInt},        {"kv_num_heads", kInt},          {"q_num_heads", kInt},
                                                {"scale", kFloat},          {"qk_matmul_output_mode", kInt}, {"softcap", kFloat},
                                                {"softmax_precision", kInt}};
  std::vector<DefinitionRow> out{
      {"BitwiseAnd", 18, 2, 2},
      {"BitwiseNot", 18, 1, 1},
      {"BitwiseOr", 18, 2, 2},
      {"BitwiseXor", 18, 2, 2},
      {"CenterCropPad", 18, 2, 2, {{"axes", kInts}}},
      {"Col2Im", 18, 3, 3, window},
      {"GroupNormalization", 18, 3, 3, group_norm},
      {"LpPool", 18, 1, 1, with(pool, {{"p", kInt}})},
      {"Mish", 18, 1, 1},
      {"OptionalHasElement", 18, 0, 1},
      {"Pad", 18, 2, 4, {{"mode", kText}}},
      {"Resize",
       18,
       1,
       4,
       {{"antialias", kInt},
        {"axes", kInts},
        {"coordinate_transformation_mode", kText},
        {"cubic_coeff_a", kFloat},
        {"exclude_outside", kInt},
        {"extrapolation_value", kFloat},
        {"keep_aspect_ratio_policy", kText},
        {"mode", kText},
        {"nearest_mode", kText}}},
      {"Split", 18, 1, 2, {{"axis", kInt}, {"num_outputs", kInt}}, kAnyNumber},
      {"AveragePool", 19, 1, 1, with(pool, {{"count_include_pad", kInt}})},
      {"Cast", 19, 1, 1, {{"saturate", kInt}, {"to", kInt, true}}},
      {"CastLike", 19, 2, 2, {{"saturate", kInt}}},
      {"DeformConv", 19, 3, 5, with(window, {{"group", kInt}, {"kernel_shape", kInts}, {"offset_group", kInt}})},
      {"QuantizeLinear", 19, 2, 3, {{"axis", kInt}, {"saturate", kInt}}},
      {"AffineGrid", 20, 2, 2, {{"align_corners", kInt}}},
      {"DFT", 20, 1, 3, {{"inverse", kInt}, {"onesided", kInt}}},
      {"Gelu", 20, 1, 1, {{"approximate", kText}}},
      {"ImageDecoder", 20, 1, 1, {{"pixel_format", kText}}},
      {"RegexFullMatch", 20, 1, 1, {{"pattern", kText}}},
      {"StringConcat", 20, 2, 2},
      {"StringSplit", 20, 1, 1, {{"delimiter", kText}, {"maxsplit", kInt}}, 2},
      {"DequantizeLinear", 21, 2, 3, {{"axis", kInt}, {"block_size", kInt}}},
      {"GroupNormalization", 21, 3, 3, with(group_norm, {{"stash_type", kInt}})},
      {"QuantizeLinear", 21, 2, 3, {{"axis", kInt}, {"block_size", kInt}, {"output_dtype", kInt}, {"saturate", kInt}}},
      {"DequantizeLinear", 23, 2, 3, {{"axis", kInt}, {"block_size", kInt}, {"output_dtype", kInt}}},
      {"QuantizeLinear", 23, 2, 3, {{"axis", kInt}, {"block_size", kInt}, {"output_dtype", kInt}, {"precision", kInt}, {"saturate", kInt}}},
      {"Attention", 23, 3, 6, attention, 4, true},
      {"Attention", 24, 3, 7, attention, 4, true},
      {"Cast", 24, 1, 1, {{"round_mode", kText}, {"saturate", kInt}, {"to", kInt, true}}},
      {"CastLike", 24, 2, 2, {{"round_mode", kText}, {"saturate", kInt}}},
      {"RMSNormalization", 23, 2, 2, {{"axis", kInt}, {"epsilon", kFloat}, {"stash_type", kInt}}},
      {"RotaryEmbedding", 23, 3, 4, {{"interleaved", kInt}, {"num_heads", kInt}, {"rotary_embedding_dim", kInt}}},
      {"Swish", 24, 1, 1, {{"alpha", kFloat}}},
      {"TensorScatter", 24, 2, 3, {{"axis", kInt}, {"mode", kText}}},
  };
  for (const char* op :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"})
    out.push_back({op, 18, 1, 2, reduction});
  return out;
}

// Every parameter may be of any type of tensor: which ones an operator takes, its importer knows.
OpSchema schema_of(const DefinitionRow& d, const std::string& domain) {
  OpSchema out(d.op_type, __FILE__, __LINE__);
  out.SetDomain(domain).SinceVersion(d.since).TypeConstraint("T", OpSchema::all_tensor_types(), "");
  const bool any_number = d.max_inputs == kAnyNumber;
  for (int i = 0; i < (any_number ? d.min_inputs + 1 : d.max_inputs); ++i) {
    const bool needed = i < d.min_inputs && std::count(d.may_be_empty.begin(), d.may_be_empty.end(), i) == 0;
    out.Input(i, "input", "", "T",
              needed                            ? OpSchema::Single
              : any_number && i == d.min_inputs ? OpSchema::Variadic
                                                : OpSchema::Optional,
              false);
  }
  if (d.max_results == kAnyNumber) {
    out.Output(0, "result", "", "T", OpSchema::Variadic);
  } else {
    for (int i = 0; i < d.max_results; ++i)
      out.Output(i, "result", "", "T", i == 0 || !d.further_results_optional ? OpSchema::Single : OpSchema::Optional);
  }
  for (const DefinedAttribute& a : d.attributes) out.Attr(a.name, "", a.type, a.required);
  out.Finalize();
  return out;
}

class Definitions final : public ::onnx::ISchemaRegistry {
 public:
  Definitions() {
    add(newer_definitions(), std::string(kDefaultDomain));
    add(runtime_definitions(), std::string(kDefaultDomain));
    add(contrib_definitions(), std::string(kContribDomain));
  }

  const OpSchema* GetSchema(const std::string& op_type, int opset, const std::string& domain) const override {
    const OpSchema* ours = nullptr;
    if (auto found = rows_.find({domain, op_type}); found != rows_.end()) {
      auto after = found->second.upper_bound(opset);
      if (after != found->second.begin()) ours = &std::prev(after)->second;
    }
    const OpSchema* theirs = OpSchemaRegistry::Schema(op_type, opset, domain);
    if (ours == nullptr || (theirs != nullptr && theirs->since_version() > ours->since_version())) return theirs;
    return ours;
  }

  std::vector<std::string> op_types() const {
    std::vector<std::string> out;
    for (const auto& [name, versions] : rows_)
      if (name.first == kDefaultDomain) out.push_back(name.second);
    for (const auto& schema : OpSchemaRegistry::get_all_schemas())
      if (schema.domain() == kDefaultDomain) out.push_back(schema.Name());
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  void add(const std::vector<DefinitionRow>& rows, const std::string& domain) {
    for (const DefinitionRow& d : rows) rows_[{domain, d.op_type}].emplace(d.since, schema_of(d, domain));
  }

  std::map<std::pair<std::string, std::string>, std::map<int, OpSchema>> rows_;  // by domain and operator
};

const Definitions& all() {
  static const Definitions definitions;
  return definitions;
}

}  // namespace

const OpSchema* definition(std::string_view domain, std::string_view op_type, int opset) {
  // Models state versions of ONNX's own operators; those of other domains have one each here.
  return all().GetSchema(std::string(op_type), domain == kDefaultDomain ? opset : std::numeric_limits<int>::max(), std::string(domain));
}

std::vector<std::string> defined_op_types() { return all().op_types(); }

const ::onnx::ISchemaRegistry& definitions() { return all(); }

}  // namespace buda::onnx_frontend
