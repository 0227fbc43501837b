// Tensors of the evaluator: plain doubles, each with the error that formats may have made.
#pragma once

#include <buda/netlist/op.hpp>
#include <buda/netlist/tensor_maps.hpp>
#include <buda/tensor/data_format.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace buda::judge {

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
  std::size_t at(std::size_t z, std::size_t r, std::size_t c) const { return (z * rows + r) * cols + c; }
  double error_at(std::size_t i) const { return error.empty() ? 0 : error[i]; }
  bool same_shape(const Array& o) const { return t == o.t && rows == o.rows && cols == o.cols; }
};

// One entry of a tensor (w, z, r, c).
Array array_of(const Tensor& tensor, std::int64_t w, TileDim tile);

// An array of another shape, number by number: source(z, r, c) gives the place in `from`, or -1 for `otherwise`.
Array gathered(const Array& from, std::size_t t, std::size_t rows, std::size_t cols,
               const std::function<std::ptrdiff_t(std::size_t, std::size_t, std::size_t)>& source, double otherwise = 0);

// What unpad, TMs and pad make of an array; `pad` is rounded to the format by the caller's function.
Array manipulated(Array in, const netlist::EdgeMaps& maps, const std::function<double(double)>& round_pad);
Array manipulated(Array in, const std::vector<netlist::Tm>& tms, const std::function<double(double)>& round_pad);

// Each tile cut, or filled up with zeros, to another size.
Array with_tile(const Array& in, TileDim dim);

}  // namespace buda::judge
