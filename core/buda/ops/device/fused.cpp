// SPDX-License-Identifier: Apache-2.0
// fused_op at device level: its sub-ops one after the other.
#include <buda/ops/device/fused_body.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/table/rules.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/table/evaluate_call.hpp>

namespace buda::ops {
namespace {

Result<std::vector<ValueType>> infer_fused(const InferCall& call) {
  BUDA_ASSIGN(graph::SharedBody body, fused_body(call.attrs.given(), call.inputs.size()));
  auto apply = [](const FusedSubOp& s, std::span<const ValueType> in) -> Result<ValueType> {
    BUDA_ASSIGN(auto types, infer(*standard_ops().find(Level::device, s.type), in, s.attrs));
    return std::move(types[0]);
  };
  BUDA_ASSIGN(ValueType type, walk_fused<ValueType>(*body, call.inputs, apply));
  return std::vector<ValueType>{std::move(type)};
}

Result<std::vector<Tensor>> evaluate_fused(const EvaluateCall& call) {
  BUDA_ASSIGN(graph::SharedBody body, fused_body(call.attrs.given(), call.inputs.size()));
  auto apply = [&call](const FusedSubOp& s, std::span<const Tensor> in) -> Result<Tensor> {
    BUDA_ASSIGN(auto results, evaluate(*standard_ops().find(Level::device, s.type), in, s.attrs, call.threads));
    return std::move(results[0]);
  };
  BUDA_ASSIGN(Tensor out, walk_fused<Tensor>(*body, call.inputs, apply));
  return std::vector<Tensor>{std::move(out)};
}

double fused_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs& attrs) {
  auto body = fused_body(attrs.given(), inputs.size());
  double sum = 0;
  if (!body) return sum;
  auto counted = walk_fused<ValueType>(**body, inputs, [&sum](const FusedSubOp& s, std::span<const ValueType> in) -> Result<ValueType> {
    const OpDef& def = *standard_ops().find(Level::device, s.type);
    BUDA_ASSIGN(auto types, infer(def, in, s.attrs));
    sum += flops(def, in, types, s.attrs);
    return std::move(types[0]);
  });
  return counted ? sum : 0;
}

}  // namespace

OpDef fused_op_definition() {
  OpDef fused{
      .name = std::string(kFusedOp),
      .level = Level::device,
      .family = "fused",
      .summary = "sub-ops one after the other on each ublock, as fused_body.hpp tells",
      .inputs = {"inputs"},
      .least_inputs = 1,
      .most_inputs = kAnyNumber,
      .attrs = {{std::string(graph::kSubOps),
                 AttrType::fused_body,
                 std::nullopt,
                 "in a file each a map in YAML's flow style, as in a netlist, with `intermediates`, the buffers for results that wait",
                 {}}},
      .infer = infer_fused,
      .evaluate = evaluate_fused,
      .flops = fused_flops,
      .precise = true};
  return fused;
}

}  // namespace buda::ops
