// SPDX-License-Identifier: Apache-2.0
// A table of what is known of a graph's values.
#pragma once

#include <buda/graph/node_id.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace buda::graph {

// Entries by value, found in constant time, since nearly all values are the first result of their node. Entries stay where they are.
template <class T>
class ValueTable {
 public:
  // Of a graph with this bound of ids.
  explicit ValueTable(std::size_t id_bound) : first_(id_bound, kNone) {}

  // Null when there is none.
  const T* find(ValueRef value) const {
    std::uint32_t i = index(value);
    return i == kNone ? nullptr : &entries_[i];
  }
  bool contains(ValueRef value) const { return index(value) != kNone; }

  // In place of the one that there is, if any.
  void set(ValueRef value, T entry) {
    std::uint32_t& i = value.port == 0 ? first_[value.node.index()] : others_.emplace(value, kNone).first->second;
    if (i != kNone) {
      entries_[i] = std::move(entry);
      return;
    }
    i = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back(std::move(entry));
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::uint32_t index(ValueRef value) const {
    if (value.port == 0) return first_[value.node.index()];
    auto it = others_.find(value);
    return it == others_.end() ? kNone : it->second;
  }

  std::vector<std::uint32_t> first_;          // of each node's first result
  std::map<ValueRef, std::uint32_t> others_;  // of the further results
  std::deque<T> entries_;
};

}  // namespace buda::graph
