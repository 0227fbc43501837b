// SPDX-License-Identifier: Apache-2.0
// Ops on tiles of different sizes.
//
// The device's registers hold tiles of 32 x 32. A smaller tile fills their upper left part, zeros the rest; what an op computes there is
// packed as far as the output's tile reaches. So an op works on tiles of the size that its inputs give, and the result is cut, or filled
// up with zeros, tile by tile.
#pragma once

#include <buda/arith/value.hpp>

#include <buda/netlist/model/op.hpp>

#include <vector>

namespace buda::arith {

struct TileSizes {
  TileDim out;                  // in which the op works
  std::vector<TileDim> inputs;  // to which its inputs are brought first
};

// `given`: the tiles that the op's edges deliver.
TileSizes tile_sizes(const netlist::Op& op, const std::vector<TileDim>& given);

// The same tiles, each cut or filled up with zeros.
ValuePtr with_tiles(ValuePtr value, TileDim dim);

}  // namespace buda::arith
