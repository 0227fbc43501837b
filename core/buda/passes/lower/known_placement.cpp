// SPDX-License-Identifier: Apache-2.0
// Known values on the device: in its element type, with rows and columns replicated where a broadcast needs them.
#include <buda/passes/lower/known_placement.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/lowering_tags.hpp>
#include <buda/tensor/formats/visit.hpp>

#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace buda::passes {
namespace {

// Copies of a matrix's only row or column are made for whole tiles.
template <class T>
Tensor copied_through_tile(const Tensor& in, const Shape& four, Copies copies) {
  bool rows = copies == Copies::rows || copies == Copies::both, cols = copies == Copies::columns || copies == Copies::both;
  Shape out{four[0], four[1], rows ? graph::kTileSide : four[2], cols ? graph::kTileSide : four[3]};
  std::span<const T> x = in.as<T>();
  std::vector<T> y;
  y.reserve(static_cast<std::size_t>(*out.volume()));
  for (std::int64_t m = 0; m < out[0] * out[1]; ++m)
    for (std::int64_t r = 0; r < out[2]; ++r)
      for (std::int64_t c = 0; c < out[3]; ++c)
        y.push_back(x[static_cast<std::size_t>((m * four[2] + (rows ? 0 : r)) * four[3] + (cols ? 0 : c))]);
  return Tensor(out, std::move(y));
}

// Is there a finite number that became infinite?
bool has_overflow(const graph::Value& wide, const graph::Value& narrow) {
  auto from = wide.tensor.as<double>();
  auto to = narrow.tensor.as<float>();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (std::isfinite(from[i]) && !std::isfinite(to[i])) return true;
  return false;
}

// In an element type that the device graph stores: F32, or a narrower floating-point type as it is.
Result<graph::Value> stored_content(const OpBuilder& out, const graph::Value& value) {
  if (value.tensor.dtype() == DType::f64) {
    graph::Value content(value.tensor.cast(kDeviceType));
    if (has_overflow(value, content))
      return out.refuse("it has numbers beyond 3.4e38, which F32 cannot hold", "scale them, or compute with them on the host");
    return content;
  }
  if (is_float(value.tensor.dtype())) return value;
  graph::Value content(value.tensor.cast(kDeviceType));
  if (content.tensor.cast(value.tensor.dtype()) != value.tensor)
    return out.refuse("it has integers beyond 2^24, which F32 cannot hold", "compute with them on the host");
  return content;
}

std::string name_for(const OpBuilder& out, std::uint32_t port, Copies copies) {
  static constexpr std::string_view kSuffixes[kCopiesForms] = {"", ".rows", ".columns", ".tile"};
  std::string name = out.node().name() + std::string(kSuffixes[static_cast<std::size_t>(copies)]);
  if (port != 0) name += cat('.', port);
  return copies != Copies::none || port != 0 ? out.free_name(name) : name;
}

}  // namespace

Result<Lowered> place_known(OpBuilder& out, const KnownValue& known, std::uint32_t port, Copies copies) {
  BUDA_ASSIGN(Shape shape, out.axes(known.value->tensor.shape()));
  BUDA_ASSIGN(graph::Value content, stored_content(out, *known.value));
  graph::Node& made =
      out.add(name_for(out, port, copies), known.kind == graph::NodeKind::parameter ? graph::kParameterOp : graph::kConstantOp);
  if (copies != Copies::none) {
    made.value = graph::Value(visit_dtype(content.tensor.dtype(), [&](auto tag) {
      return copied_through_tile<typename decltype(tag)::type>(content.tensor, shape, copies);
    }));
  } else if (padded(shape) != *ops::tiled_shape(content.tensor.shape())) {
    BUDA_ASSIGN(Tensor joined, content.tensor.reshaped(shape));
    made.value = graph::Value(joined);
  } else {
    made.value = std::move(content);
  }
  made.outputs = {{kDeviceType, padded(shape), std::nullopt}};
  if (const DType t = known.value->tensor.dtype(); is_integer(t) && dtype_size(t) > 1) made.tags[kExact] = "";

  Lowered placed;
  placed.source = made.id();
  placed.shape = shape;
  placed.data = range_of(known.value->tensor);
  placed.rows_alike = copies == Copies::rows || copies == Copies::both;
  placed.cols_alike = copies == Copies::columns || copies == Copies::both;
  if (placed.rows_alike) placed.rows = placed.data;
  if (placed.cols_alike) placed.cols = placed.data;
  if (copies == Copies::both) placed.corner = placed.data;
  return placed;
}

}  // namespace buda::passes
