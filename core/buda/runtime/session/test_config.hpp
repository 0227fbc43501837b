// SPDX-License-Identifier: Apache-2.0
// The section test-config of a netlist: what TT-Buda's test programs fill its queues with, and how they compare what comes out.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::runtime {

// Rows or columns of each tile, from 1 on, both ends included.
using TileRange = std::pair<std::int32_t, std::int32_t>;

struct Stimulus {
  enum class Kind : std::uint8_t { uniform, normal, constant, tile_id, sparse, sparse_encoding, step, step_rows, step_columns };
  Kind kind = Kind::uniform;
  double low = -1, high = 1;            // uniform
  double mean = 0, deviation = 1;       // normal
  double value = 0;                     // constant
  double id_base = 0, id_step = 1;      // tile_id: base + step * number of the tile
  double start = 0, increment = 1;      // step: from number to number; step_rows, step_columns: along each row or column of the tensor
  std::optional<TileRange> rows, cols;  // all else is zero
  std::string op;                       // sparse, sparse_encoding: the matmul that they are for
  double zero_strips = 0.5, zero_ublocks = 0.5, zero_tiles = 0.5;  // sparse_encoding: how often each is zero
};

struct ComparisonConfig {
  enum class Kind : std::uint8_t { exact, all_close };
  Kind kind = Kind::all_close;
  double atol = 1e-3, rtol = 1e-4;
  double close_fraction = 1.0;  // check_pct
  double correlation = 0.999;   // check_pcc
  std::optional<TileRange> rows, cols;
};

// What holds for a queue: its own entry, or the first whose name, taken as a regular expression, matches, or the general one.
template <class T>
struct PerQueue {
  std::optional<T> general;
  std::vector<std::pair<std::string, T>> overrides;  // with what they do not say taken from `general`
  const T* find(const std::string& queue) const;
};

struct TestConfig {
  std::map<std::string, std::string> arguments;  // test-args
  std::vector<std::string> inputs, outputs;      // io-config
  PerQueue<Stimulus> stimulus;
  PerQueue<ComparisonConfig> comparison;
};

// Empty where the netlist has no such section. Unknown keys and types are errors (RT030), but for those of sections that concern TT-Buda's
// programs alone.
Result<TestConfig> read_test_config(const netlist::Netlist& netlist);

}  // namespace buda::runtime
