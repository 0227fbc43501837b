// SPDX-License-Identifier: Apache-2.0
// The TMs one by one, and chains of them.
#include <buda/netlist/model/tensor_maps.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

namespace buda::netlist {
namespace {

using ShapeOrReason = std::variant<TileShape, std::string>;

// `value * n`, or a reason.
bool multiply(std::int64_t& value, std::int64_t n) {
  auto product = checked_mul(value, n);
  if (product) value = *product;
  return product.has_value();
}

ShapeOrReason grown(TileShape s, std::int64_t TileShape::*side, std::int64_t n) {
  if (!multiply(s.*side, n)) return std::string("the tensor becomes too large");
  return s;
}

ShapeOrReason shrunk(const TileShape& in, std::int64_t TileShape::*from, std::int64_t TileShape::*to, const Tm& tm, const char* what) {
  TileShape s = in;
  if (s.*from % tm.factor != 0) return cat(what, " ", s.*from, " is not divisible by ", tm.factor);
  s.*from /= tm.factor;
  return grown(s, to, tm.factor);
}

std::string number_text(double value) {
  std::string text = to_text(value);
  if (text == "nan") return ".nan";
  if (text == "inf") return ".inf";
  if (text == "-inf") return "-.inf";
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string TileShape::text() const { return cat("t=", t, " rt=", rt, " ct=", ct); }

std::string Tm::text() const {
  switch (kind) {
    case TmKind::broadcast:
      return cat("broadcast: {", name_of(dim), ": ", factor, "}");
    case TmKind::hslice:
      return cat("hslice: ", factor);
    case TmKind::vslice:
      return cat("vslice: ", factor);
    case TmKind::hstack:
      return cat("hstack: ", factor);
    case TmKind::vstack:
      return cat("vstack: ", factor);
    case TmKind::transpose:
      return "transpose";
    case TmKind::pad:
      return cat("pad: [", pad_rt, ", ", pad_ct, ", ", number_text(pad_value), "]");
    case TmKind::tile_broadcast:
      return cat("tile_broadcast: ", name_of(dim));
  }
  return "";
}

bool EdgeMaps::transposes() const {
  bool odd = false;
  for (const Tm& tm : tms)
    if (tm.kind == TmKind::transpose) odd = !odd;
  return odd;
}

ShapeOrReason shape_after(const TileShape& in, const Tm& tm) {
  bool factored = tm.kind != TmKind::transpose && tm.kind != TmKind::pad && tm.kind != TmKind::tile_broadcast;
  if (factored && tm.factor < 1) return cat("its factor ", tm.factor, " is below 1");
  switch (tm.kind) {
    case TmKind::broadcast:
      if (tm.dim == Dim::r) return grown(in, &TileShape::rt, tm.factor);
      if (tm.dim == Dim::c) return grown(in, &TileShape::ct, tm.factor);
      return grown(in, &TileShape::t, tm.factor);
    case TmKind::hslice:
      return shrunk(in, &TileShape::ct, &TileShape::t, tm, "ct");
    case TmKind::vslice:
      return shrunk(in, &TileShape::rt, &TileShape::t, tm, "rt");
    case TmKind::hstack:
      return shrunk(in, &TileShape::t, &TileShape::ct, tm, "t");
    case TmKind::vstack:
      return shrunk(in, &TileShape::t, &TileShape::rt, tm, "t");
    case TmKind::transpose:
      return TileShape{in.t, in.ct, in.rt};
    case TmKind::pad: {
      if (tm.pad_rt < 0 || tm.pad_ct < 0) return std::string("it appends a negative number of tiles");
      auto rt = checked_add(in.rt, std::int64_t{tm.pad_rt});
      auto ct = checked_add(in.ct, std::int64_t{tm.pad_ct});
      if (!rt || !ct) return std::string("the tensor becomes too large");
      return TileShape{in.t, *rt, *ct};
    }
    case TmKind::tile_broadcast:
      return in;
  }
  return in;
}

TileSource source_of(const TileShape& in, const Tm& tm, TileIndex o) {
  std::int64_t n = tm.factor;
  switch (tm.kind) {
    case TmKind::broadcast:
      if (tm.dim == Dim::r) return {false, {o.t, o.r % in.rt, o.c}, 0};
      if (tm.dim == Dim::c) return {false, {o.t, o.r, o.c % in.ct}, 0};
      return {false, {o.t % in.t, o.r, o.c}, 0};
    case TmKind::hslice:
      return {false, {o.t / n, o.r, (o.t % n) * (in.ct / n) + o.c}, 0};
    case TmKind::vslice:
      return {false, {o.t / n, (o.t % n) * (in.rt / n) + o.r, o.c}, 0};
    case TmKind::hstack:
      return {false, {o.t * n + o.c / in.ct, o.r, o.c % in.ct}, 0};
    case TmKind::vstack:
      return {false, {o.t * n + o.r / in.rt, o.r % in.rt, o.c}, 0};
    case TmKind::transpose:
      return {false, {o.t, o.c, o.r}, 0};
    case TmKind::pad:
      if (o.r >= in.rt || o.c >= in.ct) return {true, {}, tm.pad_value};
      return {false, o, 0};
    case TmKind::tile_broadcast:
      return {false, o, 0};
  }
  return {false, o, 0};
}

std::variant<TileMap, MapError> TileMap::make(const TileShape& producer, const EdgeMaps& maps) {
  TileMap map;
  map.shape_ = producer;
  if (maps.unpad) {
    const Unpad& u = *maps.unpad;
    if (u.rt < 0 || u.ct < 0) return MapError{-1, "it removes a negative number of tiles"};
    if (u.rt >= producer.rt || u.ct >= producer.ct) return MapError{-1, cat("nothing is left of ", producer.text())};
    // What is cut off is the end: indices stay as they are.
    map.shape_.rt -= u.rt;
    map.shape_.ct -= u.ct;
  }
  auto apply = [&map](const Tm& tm, int index) -> std::optional<MapError> {
    auto next = shape_after(map.shape_, tm);
    if (auto* reason = std::get_if<std::string>(&next)) return MapError{index, std::move(*reason)};
    const auto& shape = std::get<TileShape>(next);
    auto area = checked_mul(shape.rt, shape.ct);
    if (!area || !checked_mul(*area, shape.t)) return MapError{index, "the tensor becomes too large"};
    map.steps_.push_back({map.shape_, tm});
    map.shape_ = shape;
    return std::nullopt;
  };
  for (std::size_t i = 0; i < maps.tms.size(); ++i)
    if (auto error = apply(maps.tms[i], static_cast<int>(i))) return *error;
  if (maps.pad)
    if (auto error = apply(Tm::pad(maps.pad->rt, maps.pad->ct, maps.pad->value), static_cast<int>(maps.tms.size()))) return *error;
  return map;
}

TileSource TileMap::source(TileIndex out) const {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    TileSource s = source_of(step->in, step->tm, out);
    if (s.padding) return s;
    out = s.tile;
  }
  return {false, out, 0};
}

}  // namespace buda::netlist
