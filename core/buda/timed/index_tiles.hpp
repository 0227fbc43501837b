// SPDX-License-Identifier: Apache-2.0
// What the index tiles of sparse matmuls list: their kernels take the time of what is not zero, which only these parameters tell.
#pragma once

#include <buda/arith/value.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace buda::timed {

class IndexTiles {
 public:
  // The netlist must outlive it.
  explicit IndexTiles(const netlist::Netlist& netlist);

  // What the host puts into a queue or ram, from a slot on. Kept is the first entry of those that hold index tiles.
  void keep(const std::string& queue, std::int64_t slot, const Tensor& entries);
  // Whether a queue holds index tiles; whether any does.
  bool holds(const std::string& queue) const { return queues_.contains(queue); }
  bool holds_any() const { return !queues_.empty(); }
  // Of a core of a sparse matmul, row by row in the op's grid; nothing where its index tiles are not known, or list no products.
  std::optional<cost::SparseCounts> counts(const netlist::Op& op, std::int64_t core) const;
  // The most of each that any core of the op has.
  std::optional<cost::SparseCounts> most(const netlist::Op& op) const;

 private:
  // What the op takes as its index; null where that is not known.
  arith::ValuePtr index_of(const netlist::Op& op) const;

  std::map<std::string, const netlist::Queue*> queues_;  // that hold index tiles
  std::map<std::string, arith::ValuePtr> first_;         // entries, by queue
};

}  // namespace buda::timed
