// SPDX-License-Identifier: Apache-2.0
// Manipulations, written as index arithmetic on single numbers.
#include "array.hpp"

#include "numbers.hpp"

#include <type_traits>
#include <utility>

namespace buda::judge {

using netlist::Dim;
using netlist::Tm;
using netlist::TmKind;

Array array_of(const Tensor& tensor, std::int64_t w, TileDim tile) {
  const auto& s = tensor.shape();
  Array out(static_cast<std::size_t>(s[1]), static_cast<std::size_t>(s[2]), static_cast<std::size_t>(s[3]), tile);
  const std::size_t first = static_cast<std::size_t>(w) * out.size();
  with_numbers(tensor, [&](auto numbers) {
    for (std::size_t i = 0; i < out.size(); ++i) out.value[i] = static_cast<double>(numbers[first + i]);
  });
  return out;
}

Tensor tensor_of(const Array& a) {
  auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  return Tensor(Shape{1, size(a.t), size(a.rows), size(a.cols)}, a.value);
}

namespace {

struct Place {
  std::size_t z = 0, r = 0, c = 0;
  bool padding = false;
};

// Where a number of a manipulated array comes from: the manipulation's definition, on single numbers.
template <TmKind kind>
Place origin(const Tm& tm, const Extent& in, Place p) {
  const auto n = static_cast<std::size_t>(tm.factor);
  if constexpr (kind == TmKind::broadcast) return {p.z % in.t, p.r % in.rows, p.c % in.cols};
  if constexpr (kind == TmKind::hslice) return {p.z / n, p.r, p.z % n * (in.cols / n) + p.c};
  if constexpr (kind == TmKind::vslice) return {p.z / n, p.z % n * (in.rows / n) + p.r, p.c};
  if constexpr (kind == TmKind::hstack) return {p.z * n + p.c / in.cols, p.r, p.c % in.cols};
  if constexpr (kind == TmKind::vstack) return {p.z * n + p.r / in.rows, p.r % in.rows, p.c};
  if constexpr (kind == TmKind::transpose) return {p.z, p.c, p.r};
  if constexpr (kind == TmKind::pad) return {p.z, p.r, p.c, p.r >= in.rows || p.c >= in.cols};
  if constexpr (kind == TmKind::tile_broadcast)
    return tm.dim == Dim::r ? Place{p.z, p.r - p.r % static_cast<std::size_t>(in.tile.rows), p.c}
                            : Place{p.z, p.r, p.c - p.c % static_cast<std::size_t>(in.tile.cols)};
}

// Calls f with the manipulation's kind as a constant.
template <class F>
auto with_kind(TmKind kind, F&& f) {
  using K = TmKind;
  switch (kind) {
    case K::broadcast:
      return f(std::integral_constant<K, K::broadcast>{});
    case K::hslice:
      return f(std::integral_constant<K, K::hslice>{});
    case K::vslice:
      return f(std::integral_constant<K, K::vslice>{});
    case K::hstack:
      return f(std::integral_constant<K, K::hstack>{});
    case K::vstack:
      return f(std::integral_constant<K, K::vstack>{});
    case K::transpose:
      return f(std::integral_constant<K, K::transpose>{});
    case K::pad:
      return f(std::integral_constant<K, K::pad>{});
    case K::tile_broadcast:
      break;
  }
  return f(std::integral_constant<K, K::tile_broadcast>{});
}

Extent after(const Tm& tm, Extent e) {
  const auto n = static_cast<std::size_t>(tm.factor);
  switch (tm.kind) {
    case TmKind::broadcast:
      (tm.dim == Dim::z ? e.t : tm.dim == Dim::r ? e.rows : e.cols) *= n;
      break;
    case TmKind::hslice:
      e.t *= n, e.cols /= n;
      break;
    case TmKind::vslice:
      e.t *= n, e.rows /= n;
      break;
    case TmKind::hstack:
      e.t /= n, e.cols *= n;
      break;
    case TmKind::vstack:
      e.t /= n, e.rows *= n;
      break;
    case TmKind::transpose:
      std::swap(e.rows, e.cols);
      std::swap(e.tile.rows, e.tile.cols);
      break;
    case TmKind::pad:
      e.rows += static_cast<std::size_t>(tm.pad_rt * e.tile.rows), e.cols += static_cast<std::size_t>(tm.pad_ct * e.tile.cols);
      break;
    case TmKind::tile_broadcast:
      break;
  }
  return e;
}

Array one(const Array& in, const Tm& tm, const std::function<double(double)>& round_pad) {
  const Extent before = in.extent(), to = after(tm, before);
  const double pad = tm.kind == TmKind::pad ? round_pad(tm.pad_value) : 0;
  Array out = with_kind(tm.kind, [&](auto kind) {
    return gathered(
        in, to.t, to.rows, to.cols,
        [&](std::size_t z, std::size_t r, std::size_t c) {
          const Place p = origin<kind()>(tm, before, {z, r, c});
          return p.padding ? std::ptrdiff_t{-1} : static_cast<std::ptrdiff_t>(in.at(p.z, p.r, p.c));
        },
        pad);
  });
  out.tile = to.tile;
  return out;
}

}  // namespace

Array manipulated(Array in, const std::vector<Tm>& tms, const std::function<double(double)>& round_pad) {
  for (const Tm& tm : tms) in = one(in, tm, round_pad);
  return in;
}

View::View(Array base, const netlist::EdgeMaps& maps, std::function<double(double)> round_pad)
    : base_(std::move(base)), tms_(maps.tms), round_pad_(std::move(round_pad)) {
  Extent e = base_.extent();
  if (maps.unpad) {
    e.rows -= static_cast<std::size_t>(maps.unpad->rt * e.tile.rows);
    e.cols -= static_cast<std::size_t>(maps.unpad->ct * e.tile.cols);
  }
  if (maps.pad) tms_.push_back(Tm::pad(maps.pad->rt, maps.pad->ct, maps.pad->value));
  extents_.push_back(e);
  for (const Tm& tm : tms_) extents_.push_back(e = after(tm, e));
}

Array View::whole() && {
  const Extent& kept = extents_.front();
  if (kept.rows != base_.rows || kept.cols != base_.cols)
    base_ = gathered(base_, kept.t, kept.rows, kept.cols,
                     [&](std::size_t z, std::size_t r, std::size_t c) { return static_cast<std::ptrdiff_t>(base_.at(z, r, c)); });
  return manipulated(std::move(base_), tms_, round_pad_);
}

Array View::matrix(std::size_t t) const {
  const Extent& to = extent();
  std::vector<double> pads;
  for (const Tm& tm : tms_) pads.push_back(tm.kind == TmKind::pad ? round_pad_(tm.pad_value) : 0);
  Array out(1, to.rows, to.cols, to.tile);
  std::size_t i = 0;
  for (std::size_t r = 0; r < to.rows; ++r)
    for (std::size_t c = 0; c < to.cols; ++c, ++i) {
      Place p{t, r, c};
      std::size_t k = tms_.size();
      while (k > 0 && !p.padding) {
        --k;
        p = with_kind(tms_[k].kind, [&](auto kind) { return origin<kind()>(tms_[k], extents_[k], p); });
      }
      out.value[i] = p.padding ? pads[k] : base_.value[base_.at(p.z, p.r, p.c)];
    }
  return out;
}

Array with_tile(const Array& in, TileDim dim) {
  Array made;
  return with_tile(in, dim, made);
}

Array with_tile(Array&& in, TileDim dim) {
  if (in.tile == dim) return std::move(in);
  return with_tile(std::as_const(in), dim);
}

const Array& with_tile(const Array& in, TileDim dim, Array& made) {
  if (in.tile == dim) return in;
  const auto h = static_cast<std::size_t>(in.tile.rows), w = static_cast<std::size_t>(in.tile.cols),
             nh = static_cast<std::size_t>(dim.rows), nw = static_cast<std::size_t>(dim.cols);
  made = gathered(in, in.t, in.rows / h * nh, in.cols / w * nw, [&](std::size_t z, std::size_t r, std::size_t c) {
    return r % nh < h && c % nw < w ? static_cast<std::ptrdiff_t>(in.at(z, r / nh * h + r % nh, c / nw * w + c % nw)) : std::ptrdiff_t{-1};
  });
  made.tile = dim;
  return made;
}

}  // namespace buda::judge
