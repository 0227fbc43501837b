// SPDX-License-Identifier: Apache-2.0
// What tensor manipulations do to shapes.
#include <buda/graph/tm.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

namespace buda::graph {
namespace {

constexpr std::size_t kZ = 1, kR = 2, kC = 3;

std::size_t axis_of(TmDim dim) {
  switch (dim) {
    case TmDim::r:
      return kR;
    case TmDim::c:
      return kC;
    case TmDim::z:
      return kZ;
  }
  return kZ;
}

Diagnostic impossible(const Shape& in, const Tm& tm, std::string_view why) {
  return input_error("GR010", {}, cat('\'', tm.text(), "' cannot be applied to a value of shape ", in.text(), ": ", why));
}

// Moves the factor n from one axis to another. Slices cut r or c into whole tiles.
Result<Shape> moved(const Shape& in, const Tm& tm, std::size_t from, std::size_t to) {
  if (tm.factor < 1) return impossible(in, tm, "the factor must be at least 1");
  std::int64_t unit = from == kZ ? 1 : kTileSide;
  if (in[from] % unit != 0 || in[from] / unit % tm.factor != 0)
    return impossible(
        in, tm,
        from == kZ ? cat("its z is not a multiple of ", tm.factor)
                   : cat("its ", in[from], from == kR ? " rows" : " columns", " do not divide into ", tm.factor, " parts of whole tiles"));
  Shape out = in;
  out[from] /= tm.factor;
  auto grown = checked_mul(in[to], tm.factor);
  if (!grown) return impossible(in, tm, "the result is too large");
  out[to] = *grown;
  return out;
}

Result<Shape> bordered(const Shape& in, const Tm& tm) {
  if (tm.rt < 0 || tm.ct < 0) return impossible(in, tm, "the number of tiles must not be negative");
  Shape out = in;
  for (auto [axis, tiles] : {std::pair{kR, tm.rt}, std::pair{kC, tm.ct}}) {
    auto datums = checked_mul(tiles, kTileSide);
    auto size = !datums ? std::nullopt : tm.kind == TmKind::pad ? checked_add(in[axis], *datums) : std::optional(in[axis] - *datums);
    if (!size) return impossible(in, tm, "the result is too large");
    if (*size < 0 || (tm.kind == TmKind::unpad && tiles > 0 && *size < kTileSide))
      return impossible(in, tm, cat("nothing would remain of its ", in[axis], axis == kR ? " rows" : " columns"));
    out[axis] = *size;
  }
  return out;
}

}  // namespace

std::string_view tm_name(TmKind kind) {
  switch (kind) {
    case TmKind::broadcast:
      return "broadcast";
    case TmKind::transpose:
      return "transpose";
    case TmKind::hslice:
      return "hslice";
    case TmKind::vslice:
      return "vslice";
    case TmKind::hstack:
      return "hstack";
    case TmKind::vstack:
      return "vstack";
    case TmKind::pad:
      return "pad";
    case TmKind::unpad:
      return "unpad";
  }
  return "";
}

std::string_view tm_dim_name(TmDim dim) { return dim == TmDim::r ? "r" : dim == TmDim::c ? "c" : "z"; }

std::string Tm::text() const {
  switch (kind) {
    case TmKind::transpose:
      return "transpose";
    case TmKind::broadcast:
      return cat("broadcast: {", tm_dim_name(dim), ": ", factor, '}');
    case TmKind::pad:
      return cat("pad: [", rt, ", ", ct, ", ", value, ']');
    case TmKind::unpad:
      return cat("unpad: [", rt, ", ", ct, ']');
    default:
      return cat(tm_name(kind), ": ", factor);
  }
}

Result<Shape> shape_after(const Shape& in, const Tm& tm) {
  if (in.rank() != 4) return impossible(in, tm, "it must have the four axes (w, z, r, c)");
  if (!in.volume()) return impossible(in, tm, "this is not a legal shape");
  Result<Shape> out = in;
  switch (tm.kind) {
    case TmKind::broadcast: {
      if (tm.factor < 1) return impossible(in, tm, "the factor must be at least 1");
      auto size = checked_mul(in[axis_of(tm.dim)], tm.factor);
      if (!size) return impossible(in, tm, "the result is too large");
      (*out)[axis_of(tm.dim)] = *size;
      break;
    }
    case TmKind::transpose:
      out = Shape{in[0], in[kZ], in[kC], in[kR]};
      break;
    case TmKind::hslice:
      out = moved(in, tm, kC, kZ);
      break;
    case TmKind::vslice:
      out = moved(in, tm, kR, kZ);
      break;
    case TmKind::hstack:
      out = moved(in, tm, kZ, kC);
      break;
    case TmKind::vstack:
      out = moved(in, tm, kZ, kR);
      break;
    case TmKind::pad:
    case TmKind::unpad:
      out = bordered(in, tm);
      break;
  }
  if (out && !out->volume()) return impossible(in, tm, "the result is too large");
  return out;
}

Result<Shape> shape_after(const Shape& in, const std::vector<Tm>& tms) {
  Shape shape = in;
  for (const auto& tm : tms) {
    BUDA_ASSIGN(shape, shape_after(shape, tm));
  }
  return shape;
}

}  // namespace buda::graph
