// Definitions of opsets 18 to 21, which are newer than libonnx.
//
// The table holds the number of inputs and results and the attributes, as ONNX's operator documents (docs/Changelog.md of onnx/onnx) list
// them, and libonnx's checker compares nodes with it. A definition is left out where only the element types or the accepted texts
// changed since an older one: those are for the importers to judge, and the older definition says the same about the rest of a node.
#include "definitions.hpp"

#include "model.hpp"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <map>

namespace buda::onnx_frontend {
namespace {

using ::onnx::AttributeProto;
using ::onnx::OpSchema;
using ::onnx::OpSchemaRegistry;

constexpr AttributeProto::AttributeType kInt = AttributeProto::INT, kInts = AttributeProto::INTS, kFloat = AttributeProto::FLOAT,
                                        kText = AttributeProto::STRING;

struct Attribute {
  const char* name;
  AttributeProto::AttributeType type;
  bool required = false;
};

struct Definition {
  const char* op_type;
  int since;
  int min_inputs, max_inputs;
  std::vector<Attribute> attributes = {};
  int max_results = 1;
};

constexpr int kAnyNumber = std::numeric_limits<int>::max();

std::vector<Attribute> with(std::vector<Attribute> some, std::initializer_list<Attribute> more) {
  some.insert(some.end(), more);
  return some;
}

std::vector<Definition> newer_definitions() {
  const std::vector<Attribute> window{{"dilations", kInts}, {"pads", kInts}, {"strides", kInts}};
  const std::vector<Attribute> pool = with(window, {{"auto_pad", kText}, {"ceil_mode", kInt}, {"kernel_shape", kInts, true}});
  const std::vector<Attribute> reduction{{"keepdims", kInt}, {"noop_with_empty_axes", kInt}};
  const std::vector<Attribute> group_norm{{"epsilon", kFloat}, {"num_groups", kInt, true}};
  std::vector<Definition> out{
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
  };
  for (const char* op :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"})
    out.push_back({op, 18, 1, 2, reduction});
  return out;
}

// Every parameter may be of any type of tensor: which ones an operator takes, its importer knows.
OpSchema schema_of(const Definition& d) {
  OpSchema out(d.op_type, __FILE__, __LINE__);
  out.SinceVersion(d.since).TypeConstraint("T", OpSchema::all_tensor_types(), "");
  for (int i = 0; i < d.max_inputs; ++i) out.Input(i, "input", "", "T", i < d.min_inputs ? OpSchema::Single : OpSchema::Optional);
  if (d.max_results == kAnyNumber) {
    out.Output(0, "result", "", "T", OpSchema::Variadic);
  } else {
    for (int i = 0; i < d.max_results; ++i) out.Output(i, "result", "", "T");
  }
  for (const Attribute& a : d.attributes) out.Attr(a.name, "", a.type, a.required);
  out.Finalize();
  return out;
}

class Definitions final : public ::onnx::ISchemaRegistry {
 public:
  Definitions() {
    for (const Definition& d : newer_definitions()) newer_[d.op_type].emplace(d.since, schema_of(d));
  }

  const OpSchema* GetSchema(const std::string& op_type, int opset, const std::string& domain) const override {
    if (auto found = newer_.find(op_type); domain == kDefaultDomain && found != newer_.end()) {
      auto after = found->second.upper_bound(opset);
      if (after != found->second.begin()) return &std::prev(after)->second;
    }
    return OpSchemaRegistry::Schema(op_type, opset, domain);
  }

  std::vector<std::string> op_types() const {
    std::vector<std::string> out;
    for (const auto& [name, versions] : newer_) out.push_back(name);
    for (const auto& schema : OpSchemaRegistry::get_all_schemas())
      if (schema.domain() == kDefaultDomain) out.push_back(schema.Name());
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  std::map<std::string, std::map<int, OpSchema>> newer_;
};

const Definitions& all() {
  static const Definitions definitions;
  return definitions;
}

}  // namespace

const OpSchema* definition(std::string_view op_type, int opset) {
  return all().GetSchema(std::string(op_type), opset, std::string(kDefaultDomain));
}

const OpSchema* newest_definition(std::string_view op_type) { return definition(op_type, std::numeric_limits<int>::max()); }

std::vector<std::string> defined_op_types() { return all().op_types(); }

const ::onnx::ISchemaRegistry& definitions() { return all(); }

}  // namespace buda::onnx_frontend
