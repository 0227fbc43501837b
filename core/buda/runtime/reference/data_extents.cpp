// SPDX-License-Identifier: Apache-2.0
// Extents from the queues on, op by op.
#include <buda/runtime/reference/data_extents.hpp>

#include <buda/host_plan/transform.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::runtime {
namespace {

using Extents = std::map<std::string, DataExtent>;

// Before it is filled up to tiles: of what is pushed, where padding is the last step.
DataExtent pushed_extent(const std::vector<std::int64_t>& shape, const std::vector<host_plan::Transform>& transforms) {
  if (transforms.empty() || transforms.back().kind != host_plan::TransformKind::pad) return {};
  const auto before = host_plan::shape_after(Shape(shape), {transforms.begin(), transforms.end() - 1});
  if (!before || before->rank() != 4) return {};
  return {(*before)[2], (*before)[3]};
}

// Images hold parameters as they are pushed, filled up with zeros.
DataExtent stored_extent(const Tensor& value) {
  if (value.shape().rank() != 4) return {};
  const Tensor wide = value.cast(DType::f32);
  const auto numbers = wide.as<float>();
  const std::int64_t height = value.shape()[2], width = value.shape()[3];
  DataExtent out{1, 1};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    const auto place = static_cast<std::int64_t>(i);
    out.rows = std::max(*out.rows, place / width % height + 1);
    out.cols = std::max(*out.cols, place % width + 1);
  }
  return out;
}

DataExtent after_maps(DataExtent extent, const netlist::EdgeMaps& maps) {
  for (const netlist::Tm& tm : maps.tms) {
    if (tm.kind == netlist::TmKind::transpose) {
      std::swap(extent.rows, extent.cols);
    } else if (tm.kind == netlist::TmKind::broadcast && tm.dim != netlist::Dim::z) {
      // As many as the other operand has.
      (tm.dim == netlist::Dim::r ? extent.rows : extent.cols).reset();
    } else if (tm.kind != netlist::TmKind::broadcast && tm.kind != netlist::TmKind::pad) {
      return {};
    }
  }
  return extent;
}

std::optional<std::int64_t> larger(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

// An operand, and whether it is a parameter: what of it is data its numbers tell, and a constant that is the same everywhere is so in the
// padding, too. The other operand knows better.
struct Operand {
  DataExtent extent;
  bool is_parameter = false;
};

DataExtent elementwise(const Operand& a, const Operand& b) {
  auto of = [&](std::optional<std::int64_t> DataExtent::*side) {
    const auto first = a.extent.*side, second = b.extent.*side;
    if (a.is_parameter != b.is_parameter && first && second) return a.is_parameter ? second : first;
    return larger(first, second);
  };
  return {of(&DataExtent::rows), of(&DataExtent::cols)};
}

DataExtent extent_of(const netlist::Op& op, const std::vector<Operand>& operands) {
  std::vector<DataExtent> in;
  for (const Operand& o : operands) in.push_back(o.extent);
  switch (netlist::op_class(op.type)) {
    case netlist::OpClass::unary:
    case netlist::OpClass::sfpu:
      return in[0];
    case netlist::OpClass::binary:
      return in.size() < 2 ? DataExtent{} : elementwise(operands[0], operands[1]);
    case netlist::OpClass::matmul:
      return in.size() < 2 || op.attributes.identity ? DataExtent{} : DataExtent{in[0].rows, in[1].cols};
    case netlist::OpClass::reduce:
      if (op.attributes.reduce_dim == netlist::Dim::r) return {1, in[0].cols};
      if (op.attributes.reduce_dim == netlist::Dim::c) return {in[0].rows, 1};
      return in[0];
    default:
      return {};
  }
}

}  // namespace

Extents data_extents(const netlist::Netlist& netlist, const host_plan::HostPlan& plan, const NamedTensors& parameters) {
  Extents known, out;
  for (const auto& tensor : plan.inputs)
    if (!tensor.queue.empty()) known[tensor.queue] = pushed_extent(tensor.shape, tensor.transforms);
  for (const auto& [queue, value] : parameters) known[queue] = stored_extent(value);
  // Ops stand in the file in the order of the data, and graphs in that of the epochs.
  for (const netlist::Graph& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops) {
      std::vector<Operand> in;
      for (const netlist::OpInput& input : op.inputs) {
        const auto found = known.find(input.name);
        in.push_back({found == known.end() ? DataExtent{} : after_maps(found->second, input.maps), parameters.contains(input.name)});
      }
      const DataExtent extent = in.empty() ? DataExtent{} : extent_of(op, in);
      known[op.name] = out[op.name] = extent;
      for (const netlist::Queue& queue : netlist.queues)
        if (queue.input == op.name && queue.input_tms.empty()) known[queue.name] = extent;
    }
  return out;
}

Result<NamedTensors> data_only(const NamedTensors& ops, const Extents& extents) {
  NamedTensors out;
  for (const auto& [name, value] : ops) {
    const auto found = extents.find(name);
    const Shape& shape = value.shape();
    if (found == extents.end() || shape.rank() != 4) {
      out.emplace(name, value);
      continue;
    }
    const std::int64_t rows = std::min(found->second.rows.value_or(shape[2]), shape[2]);
    const std::int64_t cols = std::min(found->second.cols.value_or(shape[3]), shape[3]);
    BUDA_ASSIGN(Tensor cut, host_plan::apply_transforms(value, {{host_plan::TransformKind::narrow, {shape[0], shape[1], rows, cols}, 0}}));
    out.emplace(name, std::move(cut));
  }
  return out;
}

}  // namespace buda::runtime
