// SPDX-License-Identifier: Apache-2.0
// Finding the parts of a netlist by name.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

namespace buda::netlist {

// The position of an op: netlist.graphs[graph].ops[op].
struct OpRef {
  std::size_t graph = 0;
  std::size_t op = 0;
  friend bool operator==(const OpRef&, const OpRef&) = default;
};

// Names to positions, in O(log n). The netlist must outlive it and keep its queues, graphs and ops in place. Of equal names the first is
// found; the validator reports the others.
class Index {
 public:
  explicit Index(const Netlist& netlist);

  std::optional<std::size_t> queue(std::string_view name) const { return find(queues_, name); }
  std::optional<std::size_t> graph(std::string_view name) const { return find(graphs_, name); }
  std::optional<std::size_t> program(std::string_view name) const { return find(programs_, name); }
  std::optional<std::size_t> fused_op(std::string_view id) const { return find(fused_, id); }
  std::optional<OpRef> op(std::string_view name) const { return find(ops_, name); }

  const Queue* find_queue(std::string_view name) const;
  const Op* find_op(std::string_view name) const;
  const FusedOp* find_fused_op(std::string_view id) const;
  const Netlist& netlist() const { return *netlist_; }

 private:
  template <class T>
  using Names = std::map<std::string_view, T>;
  template <class T>
  static std::optional<T> find(const Names<T>& names, std::string_view name) {
    auto it = names.find(name);
    if (it == names.end()) return std::nullopt;
    return it->second;
  }

  const Netlist* netlist_;
  Names<std::size_t> queues_, graphs_, programs_, fused_;
  Names<OpRef> ops_;
};

}  // namespace buda::netlist
