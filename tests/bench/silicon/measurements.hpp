// SPDX-License-Identifier: Apache-2.0
// Measurements of single ops on one core of a chip: folders of CSV files, as TT-Buda's op model has them.
//
// A folder has `ops/<arch>/<op>[-variant]-op-performance.csv`, a line for each measurement: formats and fidelity, blocking, and either
// `runtime`, cycles of one input, or `total-runtime`, cycles of the inputs first-input-idx-recorded to last-input-idx-recorded.
#pragma once

#include <buda/cost/kernel_cycles.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/op.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::silicon {

struct Measurement {
  std::string arch;  // "wormhole_b0"
  std::string file;  // without its folder
  std::uint32_t line = 0;
  netlist::Op op;
  std::optional<cost::SparseCounts> counts;  // of sparse matmuls
  double cycles = 0;                         // of one input
};

// The blocking, as a person writes it. Measurements with the same one are never on both sides of a split.
std::string blocking_text(const netlist::Op& op);

// All of `folder`, in the order of files and lines; a measurement that an earlier file has too is left out.
Result<std::vector<Measurement>> read_measurements(Host& host, const std::string& folder);

}  // namespace buda::silicon
