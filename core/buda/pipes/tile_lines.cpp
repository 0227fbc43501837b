// Lines through manipulations, and into runs of buffer indices.
#include <buda/pipes/tile_lines.hpp>

#include <algorithm>
#include <utility>

namespace buda::pipes {

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
    map.broadcasts_ = map.broadcasts_ || tm.kind == TmKind::broadcast;
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

void ProducerLayout::add_runs(const Line& line, std::int64_t offset, RunList& out) const {
  if (line.padding) {
    out.add({kPaddingCore, 0, line.count});
    return;
  }
  const std::int64_t ur = block.ublock_rt, uc = block.ublock_ct, m = block.mblock_m, n = block.mblock_n;
  auto [t, r, c] = line.first;
  for (std::int64_t left = line.count; left > 0;) {
    std::int64_t ublock_r = r / ur, ublock_c = c / uc, tile_r = r % ur, tile_c = c % uc;
    std::int64_t core = ublock_r / m * grid.cols + ublock_c / n;
    std::int64_t in_m = ublock_r % m, in_n = ublock_c % n;
    std::int64_t ublock = order == netlist::UblockOrder::r ? in_m * n + in_n : in_n * m + in_m;
    std::int64_t index = offset + t * block.mblock_tiles() + ublock * block.ublock_tiles() + tile_r * uc + tile_c;
    // A step down is a step of uc indices: a run only where the ublock is one tile wide. Ublocks that are scanned along the line and one
    // tile high (or, down, wide) follow each other without a gap up to the end of the core's part.
    const bool rows = order == netlist::UblockOrder::r;
    const std::int64_t across = ur == 1 && rows ? n * uc - c % (n * uc) : uc - tile_c;
    const std::int64_t down = uc != 1 ? 1 : rows ? ur - tile_r : m * ur - r % (m * ur);
    std::int64_t take = std::min(left, line.down ? down : across);
    out.add({static_cast<std::int32_t>(core), index, take});
    (line.down ? r : c) += take;
    left -= take;
  }
}

}  // namespace buda::pipes
