// SPDX-License-Identifier: Apache-2.0
// The tag's number.
#include <buda/graph/tags/tile_rows.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>
#include <buda/graph/value_type.hpp>

#include <algorithm>

namespace buda::graph {

namespace {

Diagnostic wrong_rows(const Node& n, const std::string& why) {
  Diagnostic d = input_error("GR029", n.loc, cat("node '", n.name(), "': tag ", kTileRows, ": ", why));
  d.node = n.name();
  return d;
}

}  // namespace

Result<std::int64_t> named_tile_rows(const Node& n) {
  auto tag = n.tags.find(kTileRows);
  if (tag == n.tags.end()) return kTileSide;
  auto rows = parse_int(tag->second);
  if (!rows || std::find(kSmallTileRows.begin(), kSmallTileRows.end(), *rows) == kSmallTileRows.end())
    return wrong_rows(n, cat('\'', tag->second, "' is not one of 1, 2, 4, 8, 16"));
  return *rows;
}

Result<std::int64_t> tile_rows(const Node& n) {
  BUDA_ASSIGN(const std::int64_t rows, named_tile_rows(n));
  if (rows == kTileSide) return rows;
  for (const ValueType& type : n.outputs)
    if (type.shape.rank() != 4 || type.shape[2] != kTileSide)
      return wrong_rows(n, cat("the value ", type.text(), " does not have one tile along r"));
  return rows;
}

}  // namespace buda::graph
