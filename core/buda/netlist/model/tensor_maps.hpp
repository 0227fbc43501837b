// SPDX-License-Identifier: Apache-2.0
// Tensor manipulations (TMs): what they do to the shape of a tensor of tiles, and which tile each tile of the result comes from.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/op_types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

// A tensor of tiles: t matrices of rt x ct tiles.
struct TileShape {
  std::int64_t t = 1, rt = 1, ct = 1;
  std::int64_t volume() const { return t * rt * ct; }
  std::string text() const;  // "t=1 rt=4 ct=2"
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

struct TileIndex {
  std::int64_t t = 0, r = 0, c = 0;
  friend bool operator==(const TileIndex&, const TileIndex&) = default;
};

enum class TmKind : std::uint8_t { broadcast, hslice, vslice, hstack, vstack, transpose, pad, tile_broadcast };

// One TM. With input shape (T, R, C) and n = factor, tile (t, r, c) of the output is input tile …
//   broadcast r n   (T, R*n, C)     (t, r mod R, c)          likewise c
//   broadcast z n   (T*n, R, C)     (t mod T, r, c)
//   hslice n        (T*n, R, C/n)   (t / n, r, (t mod n)*(C/n) + c)
//   vslice n        (T*n, R/n, C)   (t / n, (t mod n)*(R/n) + r, c)
//   hstack n        (T/n, R, C*n)   (t*n + c / C, r, c mod C)
//   vstack n        (T/n, R*n, C)   (t*n + r / R, r mod R, c)
//   transpose       (T, C, R)       (t, c, r), and the datums of each tile are transposed too
//   pad r c v       (T, R+r, C+c)   itself, or a tile full of v
//   tile_broadcast  (T, R, C)       itself; inside each tile row or column 0 is repeated (fused ops only)
struct Tm {
  TmKind kind{};
  Dim dim = Dim::none;      // broadcast r, c, z; tile_broadcast r, c
  std::int32_t factor = 0;  // broadcast, slices, stacks
  std::int32_t pad_rt = 0, pad_ct = 0;
  double pad_value = 0;

  static Tm broadcast(Dim dim, std::int32_t n) { return {TmKind::broadcast, dim, n, 0, 0, 0}; }
  static Tm hslice(std::int32_t n) { return {TmKind::hslice, Dim::none, n, 0, 0, 0}; }
  static Tm vslice(std::int32_t n) { return {TmKind::vslice, Dim::none, n, 0, 0, 0}; }
  static Tm hstack(std::int32_t n) { return {TmKind::hstack, Dim::none, n, 0, 0, 0}; }
  static Tm vstack(std::int32_t n) { return {TmKind::vstack, Dim::none, n, 0, 0, 0}; }
  static Tm transpose() { return {TmKind::transpose, Dim::none, 0, 0, 0, 0}; }
  static Tm pad(std::int32_t rt, std::int32_t ct, double value) { return {TmKind::pad, Dim::none, 0, rt, ct, value}; }
  static Tm tile_broadcast(Dim dim) { return {TmKind::tile_broadcast, dim, 0, 0, 0, 0}; }

  std::string text() const;  // as in a netlist: "broadcast: {r: 4}", "transpose"
  friend bool operator==(const Tm&, const Tm&) = default;
};

// Tile rows and columns cut off the end of the producer's tensor, before the TMs.
struct Unpad {
  std::int32_t rt = 0, ct = 0;
  friend bool operator==(const Unpad&, const Unpad&) = default;
};

// Tile rows and columns of `value` appended after the TMs.
struct Pad {
  std::int32_t rt = 0, ct = 0;
  double value = 0;
  friend bool operator==(const Pad&, const Pad&) = default;
};

// Everything on the way from a producer to one input: unpad, then TMs from left to right, then pad.
struct EdgeMaps {
  std::optional<Unpad> unpad;
  std::vector<Tm> tms;
  std::optional<Pad> pad;
  bool transposes() const;  // an odd number of transposes: the datums of each tile are transposed
  friend bool operator==(const EdgeMaps&, const EdgeMaps&) = default;
};

// Why a manipulation does not apply: which TM of the list (-1 unpad, size() pad), and a sentence without a full stop.
struct MapError {
  int index = 0;
  std::string reason;
};

// A tile of the result: a tile of the producer, or padding.
struct TileSource {
  bool padding = false;
  TileIndex tile;        // when not padding
  double pad_value = 0;  // when padding
};

// The shape after one TM, or why it cannot be. Products are checked: nothing overflows.
std::variant<TileShape, std::string> shape_after(const TileShape& in, const Tm& tm);
// Where tile `out` of the result of one TM on a tensor of shape `in` comes from.
TileSource source_of(const TileShape& in, const Tm& tm, TileIndex out);

// The whole way of one edge, prepared for many look-ups: O(number of TMs) each.
class TileMap {
 public:
  static std::variant<TileMap, MapError> make(const TileShape& producer, const EdgeMaps& maps);

  const TileShape& shape() const { return shape_; }  // of the result
  TileSource source(TileIndex out) const;

 private:
  struct Step {
    TileShape in;
    Tm tm;
  };
  std::vector<Step> steps_;
  TileShape shape_;
};

}  // namespace buda::netlist

#pragma GCC visibility pop
