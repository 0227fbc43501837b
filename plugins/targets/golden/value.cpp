// Values of zeros.
#include "value.hpp"

namespace buda::golden {

Value::Value(netlist::TileShape shape, TileDim tile_dim, DataFormat f) : tiles(shape), dim(tile_dim), format(f) {
  if (integer()) {
    ints.resize(size());
  } else {
    floats.resize(size());
  }
}

}  // namespace buda::golden
