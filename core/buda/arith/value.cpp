// SPDX-License-Identifier: Apache-2.0
// Values of zeros.
#include <buda/arith/value.hpp>

namespace buda::arith {

Value::Value(netlist::TileShape shape, TileDim tile_dim, DataFormat f) : tiles(shape), dim(tile_dim), format(f) {
  if (integer()) {
    ints.resize(size());
  } else {
    floats.resize(size());
  }
}

}  // namespace buda::arith
