// SPDX-License-Identifier: Apache-2.0
// Nodes of the device graph: names, provenance, types.
#include <buda/passes/lower/op_builder.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/formats/precision_rules.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/tensor/formats/visit.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace buda::passes {

using graph::Node;
using graph::NodeId;
using graph::ValueRef;

namespace {

double as_double(Boolean v) { return v ? 1 : 0; }
double as_double(Half v) { return to_float(v); }
double as_double(BFloat16 v) { return to_float(v); }
template <class T>
double as_double(T v) {
  return static_cast<double>(v);
}

}  // namespace

ValueRange range_of(const Tensor& t) {
  if (t.size() == 0) return ValueRange::exactly(0);
  return visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    double least = std::numeric_limits<double>::infinity(), most = -least;
    // Weights may lie unaligned in the model's file. They are read where they lie: an aligned copy of all of them takes longer than this.
    const char* bytes = t.bytes().data();
    for (std::size_t i = 0; i < t.size(); ++i) {
      T v;
      std::memcpy(&v, bytes + i * sizeof(T), sizeof(T));
      const double d = as_double(v);
      if (d != d) return ValueRange::unknown();
      least = std::min(least, d);
      most = std::max(most, d);
    }
    return ValueRange{least, most, true};
  });
}

std::string OpBuilder::free_name(const std::string& wanted) const {
  auto is_taken = [&](const std::string& name) { return task_.from.find(name).valid() || task_.from.find_output(name).valid(); };
  std::string name = out_.fresh_name(wanted);
  for (int i = 1; is_taken(name); ++i) name = out_.fresh_name(cat(wanted, '.', i));
  return name;
}

namespace {

// Integers of more than a byte stay integers.
bool gives_wide_integers(const Node& n) {
  return n.is_op() && !n.outputs.empty() && is_integer(n.outputs[0].dtype) && dtype_size(n.outputs[0].dtype) > 1;
}

// Whether a number has more bits than the formats of 16 bits.
bool has_long_numbers(const Tensor& tensor) {
  const std::vector<float> numbers = tensor.to_f32();
  return std::any_of(numbers.begin(), numbers.end(), [](float x) { return (std::bit_cast<std::uint32_t>(x) & 0xffffu) != 0; });
}

}  // namespace

Node& OpBuilder::add(std::string name, std::string_view op, std::vector<graph::Edge> inputs) {
  NodeId id = out_.add(std::move(name), std::string(op), std::move(inputs));
  Node& made = out_.node(id);
  made.origins = node_.origins;
  made.tags = node_.tags;
  made.loc = node_.loc;
  if (gives_wide_integers(node_)) made.tags[kExact] = "";
  return made;
}

Result<ValueRef> OpBuilder::op(std::string_view suffix, std::string type, std::vector<graph::Edge> inputs, graph::AttrMap attrs) {
  Node& made = add(suffix.empty() ? node_.name() : free_name(cat(node_.name(), '.', suffix)), type, std::move(inputs));
  made.attrs = std::move(attrs);
  BUDA_ASSIGN(made.outputs, ops::infer_node(out_, made, *task_.context.ops));
  return ValueRef(made.id());
}

Result<Lowered> OpBuilder::constant(std::string_view suffix, const Tensor& tensor) {
  BUDA_ASSIGN(Lowered out, constant_as_is(suffix, tensor.cast(kDeviceType)));
  if (gives_wide_integers(node_) && has_long_numbers(tensor)) mark_exact(out);
  return out;
}

Result<Lowered> OpBuilder::constant_as_is(std::string_view suffix, const Tensor& tensor) {
  BUDA_ASSIGN(Shape shape, axes(tensor.shape()));
  NodeId id = out_.add(free_name(cat(node_.name(), '.', suffix)), std::string(graph::kConstantOp));
  Node& made = out_.node(id);
  made.origins = node_.origins;
  made.loc = node_.loc;
  if (auto original = node_.tags.find(kOriginalOpType); original != node_.tags.end()) made.tags.insert(*original);
  BUDA_ASSIGN(Tensor placed, tensor.reshaped(joins_batch() && tensor.shape().rank() > 3 ? shape : tensor.shape()));
  made.value = graph::Value(placed);
  made.outputs = {{tensor.dtype(), padded(shape), std::nullopt}};
  Lowered out;
  out.source = id;
  out.shape = shape;
  out.data = range_of(tensor);
  return out;
}

void OpBuilder::mark_range(const Lowered& x) {
  if (x.far_padding) out_.node(x.source.node).tags[kWideRange] = "";
}

void OpBuilder::mark_exact(const Lowered& x) { out_.node(x.source.node).tags[kExact] = ""; }

}  // namespace buda::passes
