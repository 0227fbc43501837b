// Manipulations, written as index arithmetic on single numbers.
#include "array.hpp"

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

Array one(const Array& in, const Tm& tm, const std::function<double(double)>& round_pad) {
  const auto n = static_cast<std::size_t>(tm.factor);
  const std::size_t T = in.t, R = in.rows, C = in.cols;
  auto from = [&](std::size_t z, std::size_t r, std::size_t c) { return static_cast<std::ptrdiff_t>(in.at(z, r, c)); };
  switch (tm.kind) {
    case TmKind::broadcast:
      return gathered(in, tm.dim == Dim::z ? T * n : T, tm.dim == Dim::r ? R * n : R, tm.dim == Dim::c ? C * n : C,
                      [&](std::size_t z, std::size_t r, std::size_t c) { return from(z % T, r % R, c % C); });
    case TmKind::hslice:
      return gathered(in, T * n, R, C / n,
                      [&](std::size_t z, std::size_t r, std::size_t c) { return from(z / n, r, z % n * (C / n) + c); });
    case TmKind::vslice:
      return gathered(in, T * n, R / n, C,
                      [&](std::size_t z, std::size_t r, std::size_t c) { return from(z / n, z % n * (R / n) + r, c); });
    case TmKind::hstack:
      return gathered(in, T / n, R, C * n, [&](std::size_t z, std::size_t r, std::size_t c) { return from(z * n + c / C, r, c % C); });
    case TmKind::vstack:
      return gathered(in, T / n, R * n, C, [&](std::size_t z, std::size_t r, std::size_t c) { return from(z * n + r / R, r % R, c); });
    case TmKind::transpose: {
      Array out = gathered(in, T, C, R, [&](std::size_t z, std::size_t r, std::size_t c) { return from(z, c, r); });
      out.tile = {in.tile.cols, in.tile.rows};
      return out;
    }
    case TmKind::pad: {
      const auto more_r = static_cast<std::size_t>(tm.pad_rt * in.tile.rows), more_c = static_cast<std::size_t>(tm.pad_ct * in.tile.cols);
      return gathered(
          in, T, R + more_r, C + more_c,
          [&](std::size_t z, std::size_t r, std::size_t c) { return r < R && c < C ? from(z, r, c) : std::ptrdiff_t{-1}; },
          round_pad(tm.pad_value));
    }
    case TmKind::tile_broadcast: {
      const auto h = static_cast<std::size_t>(in.tile.rows), w = static_cast<std::size_t>(in.tile.cols);
      return gathered(in, T, R, C, [&](std::size_t z, std::size_t r, std::size_t c) {
        return tm.dim == Dim::r ? from(z, r - r % h, c) : from(z, r, c - c % w);
      });
    }
  }
  return in;
}

}  // namespace

Array manipulated(Array in, const std::vector<Tm>& tms, const std::function<double(double)>& round_pad) {
  for (const Tm& tm : tms) in = one(in, tm, round_pad);
  return in;
}

Array manipulated(Array in, const netlist::EdgeMaps& maps, const std::function<double(double)>& round_pad) {
  if (maps.unpad) {
    const std::size_t less_r = static_cast<std::size_t>(maps.unpad->rt * in.tile.rows),
                      less_c = static_cast<std::size_t>(maps.unpad->ct * in.tile.cols);
    in = gathered(in, in.t, in.rows - less_r, in.cols - less_c,
                  [&](std::size_t z, std::size_t r, std::size_t c) { return static_cast<std::ptrdiff_t>(in.at(z, r, c)); });
  }
  in = manipulated(std::move(in), maps.tms, round_pad);
  if (maps.pad) {
    Tm tm;
    tm.kind = TmKind::pad;
    tm.pad_rt = maps.pad->rt;
    tm.pad_ct = maps.pad->ct;
    tm.pad_value = maps.pad->value;
    in = one(in, tm, round_pad);
  }
  return in;
}

Array with_tile(const Array& in, TileDim dim) {
  if (in.tile == dim) return in;
  const auto h = static_cast<std::size_t>(in.tile.rows), w = static_cast<std::size_t>(in.tile.cols),
             nh = static_cast<std::size_t>(dim.rows), nw = static_cast<std::size_t>(dim.cols);
  Array out = gathered(in, in.t, in.rows / h * nh, in.cols / w * nw, [&](std::size_t z, std::size_t r, std::size_t c) {
    return r % nh < h && c % nw < w ? static_cast<std::ptrdiff_t>(in.at(z, r / nh * h + r % nh, c / nw * w + c % nw)) : std::ptrdiff_t{-1};
  });
  out.tile = dim;
  return out;
}

}  // namespace buda::judge
