// SPDX-License-Identifier: Apache-2.0
// Runs of tiles, found by asking the tile map for every tile of the result.
#include <buda/arith/gather.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace buda::arith {

using netlist::MapError;
using netlist::TileIndex;
using netlist::TileMap;
using netlist::TileShape;
using netlist::TileSource;

std::variant<Gather, MapError> Gather::make(const TileShape& producer, const netlist::EdgeMaps& maps) {
  auto made = TileMap::make(producer, maps);
  if (auto* error = std::get_if<MapError>(&made)) return std::move(*error);
  const TileMap& map = std::get<TileMap>(made);
  Gather g;
  g.in_ = producer;
  g.shape_ = map.shape();
  g.transposed_ = maps.transposes();
  g.identity_ = !maps.unpad && !maps.pad && maps.tms.empty();
  if (g.identity_) return g;
  if (g.shape_.volume() > kMaxTiles) return MapError{0, cat("the result has ", g.shape_.volume(), " tiles, more than ", kMaxTiles)};

  bool in_place = g.shape_ == producer && !g.transposed_;
  for (std::int64_t t = 0; t < g.shape_.t; ++t) {
    for (std::int64_t r = 0; r < g.shape_.rt; ++r) {
      g.first_run_.push_back(g.runs_.size());
      for (std::int64_t c = 0; c < g.shape_.ct; ++c) {
        TileSource s = map.source({t, r, c});
        std::int64_t from = (s.tile.t * producer.rt + s.tile.r) * producer.ct + s.tile.c;
        in_place = in_place && !s.padding && s.tile == TileIndex{t, r, c};
        Run* last = g.runs_.size() > g.first_run_.back() ? &g.runs_.back() : nullptr;
        bool continues = last != nullptr && last->padding == s.padding &&
                         (s.padding ? last->pad_value == s.pad_value : last->from + last->count == from && s.tile.c != 0);
        if (continues) {
          ++last->count;
        } else {
          g.runs_.push_back({s.padding ? 0 : from, 1, s.padding, s.pad_value});
        }
      }
    }
  }
  g.first_run_.push_back(g.runs_.size());
  if (in_place) {
    g.identity_ = true;
    g.runs_.clear();
    g.first_run_.clear();
  }
  return g;
}

ValuePtr Gather::apply(const ValuePtr& value, Mode mode, unsigned threads) const {
  return identity_ ? value : gathered(*value, 0, shape_.t, mode, threads);
}

ValuePtr Gather::matrix(const ValuePtr& value, std::int64_t t, Mode mode, unsigned threads) const {
  if (!identity_) return gathered(*value, t, 1, mode, threads);
  auto out = std::make_shared<Value>();
  out->tiles = {1, shape_.rt, shape_.ct};
  out->dim = value->dim;
  out->format = value->format;
  const std::size_t first = static_cast<std::size_t>(t) * value->matrix();
  auto cut = [&](const auto& from, auto& to) {
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(first), from.begin() + static_cast<std::ptrdiff_t>(first + value->matrix()));
  };
  if (value->integer()) {
    cut(value->ints, out->ints);
  } else {
    cut(value->floats, out->floats);
  }
  return out;
}

ValuePtr Gather::gathered(const Value& value, std::int64_t first_t, std::int64_t count, Mode mode, unsigned threads) const {
  const TileDim dim = transposed_ ? TileDim{value.dim.cols, value.dim.rows} : value.dim;
  auto out = std::make_shared<Value>(TileShape{count, shape_.rt, shape_.ct}, dim, value.format);
  if (value.integer()) {
    copy<std::int32_t>(value, *out, first_t, mode, threads);
  } else {
    copy<float>(value, *out, first_t, mode, threads);
  }
  return out;
}

template <class T>
void Gather::copy(const Value& in, Value& out, std::int64_t first_t, Mode mode, unsigned threads) const {
  const T* from = in.data<T>().data();
  T* to = out.data<T>().data();
  const std::size_t in_cols = in.cols(), out_cols = out.cols();
  const auto h = static_cast<std::size_t>(out.dim.rows), w = static_cast<std::size_t>(out.dim.cols);
  const auto in_ct = static_cast<std::size_t>(in_.ct), in_h = static_cast<std::size_t>(in.dim.rows),
             in_w = static_cast<std::size_t>(in.dim.cols);
  const auto first_row = static_cast<std::size_t>(first_t * shape_.rt);
  parallel_for(threads, static_cast<std::size_t>(out.tiles.t * shape_.rt), [&](std::size_t out_row) {
    const std::size_t row = first_row + out_row;
    T* place = to + out_row * h * out_cols;
    for (std::size_t i = first_run_[row]; i < first_run_[row + 1]; ++i) {
      const Run& run = runs_[i];
      const auto count = static_cast<std::size_t>(run.count);
      if (run.padding) {
        T pad;
        if constexpr (std::is_same_v<T, float>) {
          // One number alone keeps its value in every format but for its precision.
          float number = static_cast<float>(run.pad_value);
          store(mode, out.format, {&number, 1}, 1);
          pad = number;
        } else {
          pad = static_cast<T>(std::llround(std::clamp(run.pad_value, -2147483647.0, 2147483647.0)));
        }
        for (std::size_t y = 0; y < h; ++y) std::fill_n(place + y * out_cols, count * w, pad);
      } else {
        const auto first = static_cast<std::size_t>(run.from);
        const T* source = from + first / in_ct * in_h * in_cols + first % in_ct * in_w;
        if (!transposed_) {
          for (std::size_t y = 0; y < h; ++y) std::copy_n(source + y * in_cols, count * w, place + y * out_cols);
        } else {
          for (std::size_t k = 0; k < count; ++k)
            for (std::size_t y = 0; y < h; ++y)
              for (std::size_t x = 0; x < w; ++x) place[y * out_cols + k * w + x] = source[x * in_cols + k * in_w + y];
        }
      }
      place += count * w;
    }
  });
}

}  // namespace buda::arith
