// SPDX-License-Identifier: Apache-2.0
// Tensors of the evaluator: plain doubles, each with the error that formats may have made.
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/tensor/data_format.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace buda::judge {

struct Extent {
  std::size_t t = 0, rows = 0, cols = 0;
  TileDim tile;
  std::size_t size() const { return t * rows * cols; }
};

// t matrices of rows x cols numbers; the tile size says where tiles begin.
struct Array {
  std::size_t t = 0, rows = 0, cols = 0;
  TileDim tile;
  std::vector<double> value;
  std::vector<double> error;  // how far each may be from `value`; empty: not at all

  Array() = default;
  Array(std::size_t depth, std::size_t height, std::size_t width, TileDim dim)
      : t(depth), rows(height), cols(width), tile(dim), value(depth * height * width) {}

  std::size_t size() const { return value.size(); }
  Extent extent() const { return {t, rows, cols, tile}; }
  std::size_t at(std::size_t z, std::size_t r, std::size_t c) const { return (z * rows + r) * cols + c; }
  double error_at(std::size_t i) const { return error.empty() ? 0 : error[i]; }
  bool same_shape(const Array& o) const { return t == o.t && rows == o.rows && cols == o.cols; }
};

// One entry of a tensor (w, z, r, c).
Array array_of(const Tensor& tensor, std::int64_t w, TileDim tile);
// The values as a tensor (1, z, r, c) of doubles.
Tensor tensor_of(const Array& array);

// An array of another shape, number by number: source(z, r, c) gives the place in `from`, or -1 for `otherwise`.
template <class Source>
Array gathered(const Array& from, std::size_t t, std::size_t rows, std::size_t cols, Source source, double otherwise = 0) {
  Array out(t, rows, cols, from.tile);
  if (!from.error.empty()) out.error.resize(out.size());
  std::size_t i = 0;
  for (std::size_t z = 0; z < t; ++z)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c, ++i) {
        const std::ptrdiff_t s = source(z, r, c);
        out.value[i] = s < 0 ? otherwise : from.value[static_cast<std::size_t>(s)];
        if (!from.error.empty() && s >= 0) out.error[i] = from.error[static_cast<std::size_t>(s)];
      }
  return out;
}

// What unpad, TMs and pad make of an array without errors; `pad` is rounded to the format by the caller's function. Nothing is laid out
// before it is asked for: all of it once, which gives the array away, or matrix by matrix.
class View {
 public:
  View(Array base, const netlist::EdgeMaps& maps, std::function<double(double)> round_pad);
  const Extent& extent() const { return extents_.back(); }
  Array whole() &&;
  Array matrix(std::size_t t) const;  // alone

 private:
  Array base_;
  std::vector<netlist::Tm> tms_;
  std::vector<Extent> extents_;  // before each of them, and after the last
  std::function<double(double)> round_pad_;
};

// What manipulations make of an array.
Array manipulated(Array in, const std::vector<netlist::Tm>& tms, const std::function<double(double)>& round_pad);

// Each tile cut, or filled up with zeros, to another size.
Array with_tile(const Array& in, TileDim dim);
Array with_tile(Array&& in, TileDim dim);
// The same without a copy of an array that has that tile size already; `made` keeps what was made of others.
const Array& with_tile(const Array& in, TileDim dim, Array& made);

}  // namespace buda::judge
