// SPDX-License-Identifier: Apache-2.0
// Lines through manipulations, from the last one to the first.
#include <buda/tiling/line_map.hpp>

#include <algorithm>
#include <utility>

namespace buda::tiling {

using netlist::Dim;
using netlist::EdgeMaps;
using netlist::MapError;
using netlist::TileIndex;
using netlist::TileShape;
using netlist::Tm;
using netlist::TmKind;

std::variant<LineMap, MapError> LineMap::make(const TileShape& producer, const EdgeMaps& maps) {
  LineMap map;
  map.shape_ = producer;
  if (maps.unpad) {
    auto [rt, ct] = std::pair{maps.unpad->rt, maps.unpad->ct};
    if (rt < 0 || ct < 0 || rt >= map.shape_.rt || ct >= map.shape_.ct)
      return MapError{-1, "nothing is left of a tensor of " + producer.text()};
    map.shape_.rt -= rt;
    map.shape_.ct -= ct;
  }
  auto apply = [&](const Tm& tm, int index) -> std::variant<bool, MapError> {
    if (map.pads_ && tm.kind != TmKind::hslice && tm.kind != TmKind::vslice) return MapError{index, "only slices may follow a pad"};
    if (tm.kind == TmKind::broadcast && tm.dim == Dim::z && tm.factor > 1 && map.shape_.t > 1)
      return MapError{index, "broadcast z repeats a tensor of t=1 only; here it has " + map.shape_.text()};
    auto after = netlist::shape_after(map.shape_, tm);
    if (auto* reason = std::get_if<std::string>(&after)) return MapError{index, *reason};
    map.steps_.push_back({map.shape_, tm});
    map.shape_ = std::get<TileShape>(after);
    map.stacks_ = map.stacks_ || ((tm.kind == TmKind::hstack || tm.kind == TmKind::vstack) && tm.factor > 1);
    map.pads_ = map.pads_ || (tm.kind == TmKind::pad && (tm.pad_rt > 0 || tm.pad_ct > 0));
    return true;
  };
  for (std::size_t i = 0; i < maps.tms.size(); ++i) {
    auto done = apply(maps.tms[i], static_cast<int>(i));
    if (auto* error = std::get_if<MapError>(&done)) return std::move(*error);
  }
  if (maps.pad) {
    auto done = apply(Tm::pad(maps.pad->rt, maps.pad->ct, maps.pad->value), static_cast<int>(maps.tms.size()));
    if (auto* error = std::get_if<MapError>(&done)) return std::move(*error);
  }
  return map;
}

// From the last manipulation to the first; the line may get shorter at each, and a transpose turns it.
Line LineMap::line(TileIndex at, std::int64_t count) const {
  Line line{false, at, false, count};
  TileIndex& o = line.first;
  auto until = [&](bool down, std::int64_t left) {
    if (line.down == down) line.count = std::min(line.count, left);
  };
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const TileShape& in = step->in;
    std::int64_t n = step->tm.factor;
    switch (step->tm.kind) {
      case TmKind::broadcast:
        if (step->tm.dim == Dim::r) {
          o.r %= in.rt;
          until(true, in.rt - o.r);
        } else if (step->tm.dim == Dim::c) {
          o.c %= in.ct;
          until(false, in.ct - o.c);
        } else {
          o.t %= in.t;
        }
        break;
      case TmKind::hslice:
        o = {o.t / n, o.r, (o.t % n) * (in.ct / n) + o.c};
        break;
      case TmKind::vslice:
        o = {o.t / n, (o.t % n) * (in.rt / n) + o.r, o.c};
        break;
      case TmKind::hstack:
        o = {o.t * n + o.c / in.ct, o.r, o.c % in.ct};
        until(false, in.ct - o.c);
        break;
      case TmKind::vstack:
        o = {o.t * n + o.r / in.rt, o.r % in.rt, o.c};
        until(true, in.rt - o.r);
        break;
      case TmKind::transpose:
        std::swap(o.r, o.c);
        line.down = !line.down;
        break;
      case TmKind::pad:
        if (o.r >= in.rt || o.c >= in.ct) {
          // Going on in its direction the line meets tiles of the tensor only where it comes from the padding on the other side; there is
          // none.
          line.padding = true;
          return line;
        }
        until(false, in.ct - o.c);
        until(true, in.rt - o.r);
        break;
      case TmKind::tile_broadcast:
        break;
    }
  }
  return line;
}

}  // namespace buda::tiling
