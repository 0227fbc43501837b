// SPDX-License-Identifier: Apache-2.0
// What a queue slot holds and what flows between ops: a tensor of tiles, kept on the host as plain matrices.
#pragma once

#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::arith {

// t matrices of rows() x cols() numbers, row-major, one after the other; the tiles are cut from them only where something happens tile by
// tile. The numbers are those that `format` can hold (in mode fp32: any). Integer formats have them in `ints`, all others in `floats`.
struct Value {
  netlist::TileShape tiles;
  TileDim dim;
  DataFormat format = DataFormat::float32;
  std::vector<float> floats;
  std::vector<std::int32_t> ints;

  Value() = default;
  // All zeros.
  Value(netlist::TileShape shape, TileDim tile_dim, DataFormat f);

  bool integer() const { return is_integer(format); }
  std::size_t depth() const { return static_cast<std::size_t>(tiles.t); }
  std::size_t rows() const { return static_cast<std::size_t>(tiles.rt) * static_cast<std::size_t>(dim.rows); }
  std::size_t cols() const { return static_cast<std::size_t>(tiles.ct) * static_cast<std::size_t>(dim.cols); }
  std::size_t matrix() const { return rows() * cols(); }  // numbers of one t
  std::size_t size() const { return depth() * matrix(); }

  template <class T>
  std::vector<T>& data() {
    if constexpr (std::is_same_v<T, float>) {
      return floats;
    } else {
      return ints;
    }
  }
  template <class T>
  const std::vector<T>& data() const {
    return const_cast<Value*>(this)->data<T>();
  }
  // visit([](auto& numbers) { … }) with `floats` or `ints`.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return integer() ? f(ints) : f(floats);
  }
};

// Shared between slots and ops, and never changed once it is shared.
using ValuePtr = std::shared_ptr<const Value>;

}  // namespace buda::arith

#pragma GCC visibility pop
