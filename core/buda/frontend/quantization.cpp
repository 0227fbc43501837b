// SPDX-License-Identifier: Apache-2.0
// Scales and zero points as constants of a graph.
#include <buda/frontend/quantization.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::frontend {
namespace {

struct Steps {
  Tensor scale, zero_point;
  ops::AttrMap attrs;
};

Steps steps_of(const Quantization& q, DType stored) {
  Shape shape = q.per_slice() ? Shape{static_cast<std::int64_t>(q.scales.size())} : Shape{};
  Steps out{Tensor(shape, std::vector<float>(q.scales)), Tensor(shape, std::vector<std::int64_t>(q.zero_points)).cast(stored), {}};
  if (q.per_slice()) out.attrs["dim"] = q.axis;
  return out;
}

ops::Builder& named(ops::Builder& b, const std::string& name) { return b.named(b.graph().fresh_name(name)); }

}  // namespace

graph::ValueRef dequantized(ops::Builder& b, graph::ValueRef value, const Quantization& quantization, DType stored,
                            const std::string& name) {
  Steps steps = steps_of(quantization, stored);
  auto scale = named(b, cat(name, ".scale")).constant(std::move(steps.scale));
  auto zero = named(b, cat(name, ".zero_point")).constant(std::move(steps.zero_point));
  return named(b, cat(name, ".real")).op("dequantize", {value, scale, zero}, std::move(steps.attrs));
}

graph::ValueRef quantized(ops::Builder& b, graph::ValueRef value, const Quantization& quantization, DType stored, const std::string& name,
                          std::string_view ties) {
  Steps steps = steps_of(quantization, stored);
  auto scale = named(b, cat(name, ".scale")).constant(std::move(steps.scale));
  auto zero = named(b, cat(name, ".zero_point")).constant(std::move(steps.zero_point));
  if (ties != "even") steps.attrs["ties"] = std::string(ties);
  return named(b, name).op("quantize", {value, scale, zero}, std::move(steps.attrs));
}

}  // namespace buda::frontend
