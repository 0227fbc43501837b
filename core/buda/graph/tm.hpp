// SPDX-License-Identifier: Apache-2.0
// Tensor manipulations (TMs): what happens to a value on the edge from its producer to one consumer, without an op.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

enum class TmKind : std::uint8_t { broadcast, transpose, hslice, vslice, hstack, vstack, pad, unpad };
enum class TmDim : std::uint8_t { r, c, z };

// The manipulations of a netlist (`input_N_tms`), on values of shape (w, z, r, c); each of the w matrices stacks is treated alike.
// R and C are r and c of the input, in datums; n is `factor`. Datum (z, r, c) of the output is datum … of the input:
//   broadcast r n    (z, R*n, C)     (z, r mod R, c)            likewise c and z
//   transpose        (z, C, R)       (z, c, r)
//   hslice n         (z*n, R, C/n)   (z / n, r, (z mod n)*(C/n) + c)
//   vslice n         (z*n, R/n, C)   (z / n, (z mod n)*(R/n) + r, c)
//   hstack n         (z/n, R, C*n)   (z*n + c / C, r, c mod C)
//   vstack n         (z/n, R*n, C)   (z*n + r / R, r mod R, c)
//   pad rt ct v      (z, R+32rt, C+32ct)   itself, or v
//   unpad rt ct      (z, R-32rt, C-32ct)   itself
// Tiles stay whole: what is moved is a multiple of 32 datums in r and c.
struct Tm {
  TmKind kind = TmKind::transpose;
  TmDim dim = TmDim::r;     // of broadcast
  std::int64_t factor = 1;  // of broadcast, slices and stacks
  std::int64_t rt = 0;      // of pad and unpad: tile rows and tile columns at the end
  std::int64_t ct = 0;
  double value = 0;  // of pad

  static Tm broadcast(TmDim dim, std::int64_t n) { return {.kind = TmKind::broadcast, .dim = dim, .factor = n}; }
  static Tm transpose() { return {}; }
  static Tm hslice(std::int64_t n) { return {.kind = TmKind::hslice, .factor = n}; }
  static Tm vslice(std::int64_t n) { return {.kind = TmKind::vslice, .factor = n}; }
  static Tm hstack(std::int64_t n) { return {.kind = TmKind::hstack, .factor = n}; }
  static Tm vstack(std::int64_t n) { return {.kind = TmKind::vstack, .factor = n}; }
  static Tm pad(std::int64_t rt, std::int64_t ct, double value) { return {.kind = TmKind::pad, .rt = rt, .ct = ct, .value = value}; }
  static Tm unpad(std::int64_t rt, std::int64_t ct) { return {.kind = TmKind::unpad, .rt = rt, .ct = ct}; }

  std::string text() const;  // as in a netlist: "transpose", "broadcast: {r: 2}", "pad: [1, 0, 0]"
  friend bool operator==(const Tm&, const Tm&) = default;
};

std::string_view tm_name(TmKind kind);
std::string_view tm_dim_name(TmDim dim);

inline constexpr std::int64_t kTileSide = 32;

// The shape after one TM, or why it cannot be applied. `in` must have four axes.
Result<Shape> shape_after(const Shape& in, const Tm& tm);
// After a list, from left to right. An empty list gives any shape back.
Result<Shape> shape_after(const Shape& in, const std::vector<Tm>& tms);

}  // namespace buda::graph

#pragma GCC visibility pop
