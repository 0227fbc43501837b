// fused_op at device level: its sub-ops one after the other.
#include <buda/ops/fused_body.hpp>
#include <buda/ops/registry.hpp>
#include <buda/ops/rules.hpp>

#include <buda/base/text.hpp>

namespace buda::ops {
namespace {

AttrMap given(const Attrs& attrs) {
  return {{std::string(kSubOps), attrs.texts(kSubOps)}, {std::string(kIntermediates), attrs.integer(kIntermediates)}};
}

Result<std::vector<ValueType>> infer_fused(const InferCall& call) {
  BUDA_ASSIGN(FusedBody body, read_fused_body(given(call.attrs), call.inputs.size()));
  auto apply = [](const FusedSubOp& s, std::span<const ValueType> in) -> Result<ValueType> {
    BUDA_ASSIGN(auto types, infer(*standard_ops().find(Level::device, s.type), in, s.attrs));
    return std::move(types[0]);
  };
  BUDA_ASSIGN(ValueType type, walk_fused<ValueType>(body, call.inputs, apply));
  return std::vector<ValueType>{std::move(type)};
}

Result<std::vector<Tensor>> evaluate_fused(const EvaluateCall& call) {
  BUDA_ASSIGN(FusedBody body, read_fused_body(given(call.attrs), call.inputs.size()));
  auto apply = [&call](const FusedSubOp& s, std::span<const Tensor> in) -> Result<Tensor> {
    BUDA_ASSIGN(auto results, evaluate(*standard_ops().find(Level::device, s.type), in, s.attrs, call.threads));
    return std::move(results[0]);
  };
  BUDA_ASSIGN(Tensor out, walk_fused<Tensor>(body, call.inputs, apply));
  return std::vector<Tensor>{std::move(out)};
}

double fused_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs& attrs) {
  auto body = read_fused_body(given(attrs), inputs.size());
  double sum = 0;
  if (!body) return sum;
  auto counted = walk_fused<ValueType>(*body, inputs, [&sum](const FusedSubOp& s, std::span<const ValueType> in) -> Result<ValueType> {
    const OpDef& def = *standard_ops().find(Level::device, s.type);
    BUDA_ASSIGN(auto types, infer(def, in, s.attrs));
    sum += flops(def, in, types, s.attrs);
    return std::move(types[0]);
  });
  return counted ? sum : 0;
}

}  // namespace

OpDef fused_op_definition() {
  OpDef fused{.name = std::string(kFusedOp),
              .level = Level::device,
              .family = "fused",
              .summary = "sub-ops one after the other on each ublock, as fused_body.hpp tells",
              .inputs = {"inputs"},
              .least_inputs = 1,
              .most_inputs = kAnyNumber,
              .attrs = {{std::string(kSubOps), AttrType::texts, std::nullopt, "each a map in YAML's flow style, as in a netlist", {}},
                        {std::string(kIntermediates), AttrType::integer, std::int64_t{0}, "buffers for results that wait", {}}},
              .infer = infer_fused,
              .evaluate = evaluate_fused,
              .flops = fused_flops};
  return fused;
}

}  // namespace buda::ops
