// SPDX-License-Identifier: Apache-2.0
// Which part of an op's results is data: the rest fills tiles up, and its accuracy is nobody's concern.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace buda::runtime {

// Rows and columns from the start of each matrix; nothing where all of them are taken for data.
struct DataExtent {
  std::optional<std::int64_t> rows, cols;
  friend bool operator==(const DataExtent&, const DataExtent&) = default;
};

// Of the ops of a netlist, by the shapes that the plan gives to inputs, and by `parameters`, in the shapes of their queues, up to the last
// row and column that are not zero: a product has the rows of its left operand and the columns of its right one, an elementwise op the
// larger of both operands, and a transposed value both exchanged. After slices, stacks and selections nothing is known.
std::map<std::string, DataExtent> data_extents(const netlist::Netlist& netlist, const host_plan::HostPlan& plan,
                                               const NamedTensors& parameters);

// Results of ops, (w, z, r, c), cut to their data.
Result<NamedTensors> data_only(const NamedTensors& ops, const std::map<std::string, DataExtent>& extents);

}  // namespace buda::runtime

