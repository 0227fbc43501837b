// SPDX-License-Identifier: Apache-2.0
// Cutting and filling tiles.
#include <buda/arith/tile_sizes.hpp>

#include <buda/netlist/model/op_types.hpp>

#include <algorithm>

namespace buda::arith {

using netlist::Op;
using netlist::OpClass;

TileSizes tile_sizes(const Op& op, const std::vector<TileDim>& given) {
  TileSizes out{op.tile_dim, given};
  if (given.empty()) return out;
  switch (netlist::op_class(op.type)) {
    case OpClass::matmul:
    case OpClass::depthwise:
      if (given.size() < 2) break;
      out.out = {given[0].rows, given[1].cols};
      out.inputs[1].rows = given[0].cols;
      for (std::size_t i = op.attributes.identity ? 3 : 2; i < given.size(); ++i) out.inputs[i] = out.out;
      break;
    case OpClass::embedding:
      break;
    case OpClass::fused:
    case OpClass::splice:
      out.inputs.assign(given.size(), op.tile_dim);
      break;
    case OpClass::binary:
    case OpClass::quant:
      for (const TileDim& d : given) out.out = {std::max(d.rows, given[0].rows), std::max(d.cols, given[0].cols)};
      out.inputs.assign(given.size(), out.out);
      break;
    default:
      out.out = given[0];
      out.inputs.assign(given.size(), out.out);
      break;
  }
  return out;
}

namespace {

template <class T>
void copy_tiles(const Value& in, Value& out) {
  const auto h = static_cast<std::size_t>(std::min(in.dim.rows, out.dim.rows)),
             w = static_cast<std::size_t>(std::min(in.dim.cols, out.dim.cols));
  const auto ct = static_cast<std::size_t>(in.tiles.ct), rows = in.depth() * static_cast<std::size_t>(in.tiles.rt);
  const T* from = in.data<T>().data();
  T* to = out.data<T>().data();
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t y = 0; y < h; ++y) {
      const T* line = from + (r * static_cast<std::size_t>(in.dim.rows) + y) * in.cols();
      T* place = to + (r * static_cast<std::size_t>(out.dim.rows) + y) * out.cols();
      for (std::size_t c = 0; c < ct; ++c)
        std::copy_n(line + c * static_cast<std::size_t>(in.dim.cols), w, place + c * static_cast<std::size_t>(out.dim.cols));
    }
}

}  // namespace

ValuePtr with_tiles(ValuePtr value, TileDim dim) {
  if (!value || value->dim == dim) return value;
  auto out = std::make_shared<Value>(value->tiles, dim, value->format);
  if (value->integer()) {
    copy_tiles<std::int32_t>(*value, *out);
  } else {
    copy_tiles<float>(*value, *out);
  }
  return out;
}

}  // namespace buda::arith
