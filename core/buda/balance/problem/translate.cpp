// SPDX-License-Identifier: Apache-2.0
// One by one.
#include <buda/balance/problem/translate.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/netlist/text/parse.hpp>

#include <algorithm>
#include <utility>

namespace buda::balance {
namespace {

netlist::Tm netlist_tm(const graph::Tm& tm) {
  auto n = static_cast<std::int32_t>(tm.factor);
  switch (tm.kind) {
    case graph::TmKind::broadcast:
      return netlist::Tm::broadcast(tm.dim == graph::TmDim::r   ? netlist::Dim::r
                                    : tm.dim == graph::TmDim::c ? netlist::Dim::c
                                                                : netlist::Dim::z,
                                    n);
    case graph::TmKind::hslice:
      return netlist::Tm::hslice(n);
    case graph::TmKind::vslice:
      return netlist::Tm::vslice(n);
    case graph::TmKind::hstack:
      return netlist::Tm::hstack(n);
    case graph::TmKind::vstack:
      return netlist::Tm::vstack(n);
    case graph::TmKind::pad:
      return netlist::Tm::pad(static_cast<std::int32_t>(tm.rt), static_cast<std::int32_t>(tm.ct), tm.value);
    case graph::TmKind::transpose:
    case graph::TmKind::unpad:
      break;
  }
  return netlist::Tm::transpose();
}

// A netlist repeats a single matrix along z. Several, a b, are one matrix [a b] for that time: [a b] [a b] is cut into a b a b.
std::vector<netlist::Tm> with_single_matrices_repeated(const std::vector<netlist::Tm>& tms, netlist::TileShape at) {
  std::vector<netlist::Tm> out;
  for (const netlist::Tm& tm : tms) {
    const bool repeats = tm.kind == netlist::TmKind::broadcast && tm.dim == netlist::Dim::z;
    const auto matrices = static_cast<std::int32_t>(at.t);
    auto next = netlist::shape_after(at, tm);
    const auto* after = std::get_if<netlist::TileShape>(&next);
    if (after == nullptr) return tms;  // an error, which is reported where shapes are checked
    if (repeats && matrices > 1) out.push_back(netlist::Tm::hstack(matrices));
    out.push_back(tm);
    if (repeats && matrices > 1) out.push_back(netlist::Tm::hslice(matrices));
    at = *after;
  }
  return out;
}

}  // namespace

std::variant<netlist::EdgeMaps, std::string> netlist_maps(const std::vector<graph::Tm>& tms, const netlist::TileShape& from) {
  netlist::EdgeMaps out;
  for (std::size_t i = 0; i < tms.size(); ++i) {
    const graph::Tm& tm = tms[i];
    if (std::max({tm.factor, tm.rt, tm.ct}) > netlist::kMaxDimension) return cat("'", tm.text(), "' is larger than a netlist can express");
    if (tm.kind == graph::TmKind::unpad) {
      if (i != 0) return cat("'", tm.text(), "' can only be the first manipulation of an edge");
      out.unpad = netlist::Unpad{static_cast<std::int32_t>(tm.rt), static_cast<std::int32_t>(tm.ct)};
    } else if (tm.kind == graph::TmKind::pad) {
      if (i + 1 != tms.size()) return cat("'", tm.text(), "' can only be the last manipulation of an edge");
      out.pad = netlist::Pad{static_cast<std::int32_t>(tm.rt), static_cast<std::int32_t>(tm.ct), tm.value};
    } else if (tm.kind == graph::TmKind::transpose || tm.factor != 1) {
      out.tms.push_back(netlist_tm(tm));
    }
  }
  netlist::TileShape whole = from;
  if (out.unpad) {
    whole.rt -= out.unpad->rt;
    whole.ct -= out.unpad->ct;
  }
  out.tms = with_single_matrices_repeated(out.tms, whole);
  return out;
}

netlist::MathFidelity netlist_fidelity(graph::MathFidelity f) {
  switch (f) {
    case graph::MathFidelity::lofi:
      return netlist::MathFidelity::lofi;
    case graph::MathFidelity::hifi2:
      return netlist::MathFidelity::hifi2;
    case graph::MathFidelity::hifi3:
      return netlist::MathFidelity::hifi3;
    case graph::MathFidelity::hifi4:
      break;
  }
  return netlist::MathFidelity::hifi4;
}

DataFormat standard_accumulation(DataFormat operand, const device::DeviceDescriptor& device) {
  if (operand == DataFormat::float32 && device.features.fp32_accumulate) return DataFormat::float32;
  if (is_integer(operand)) return DataFormat::int32;
  return exponent_family(operand) == ExponentFamily::a ? DataFormat::float16 : DataFormat::float16_b;
}

}  // namespace buda::balance
