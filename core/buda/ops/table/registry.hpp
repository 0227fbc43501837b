// SPDX-License-Identifier: Apache-2.0
// All operations by level and name.
#pragma once

#include <buda/ops/table/op.hpp>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

class Registry {
 public:
  // A second definition of a name at the same level is an error.
  Result<void> add(OpDef def);
  // Null when there is none; input, parameter, constant and output are no operations.
  const OpDef* find(Level level, std::string_view name) const;
  // find, or a diagnostic with the nearest names.
  Result<const OpDef*> require(Level level, std::string_view name) const;
  // In the order of level, family (as added), name.
  std::vector<const OpDef*> all() const;
  std::vector<std::string> names(Level level) const;

 private:
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  // Every node of a graph is looked up in every pass that checks or infers.
  using Names = std::unordered_map<std::string, OpDef, NameHash, std::equal_to<>>;

  const Names& at(Level level) const { return defs_[static_cast<std::size_t>(level)]; }

  std::array<Names, 2> defs_;  // by level
  std::vector<std::string> families_;
};

// The operations of this toolchain: every family's list, in families.cpp.
const Registry& standard_ops();

}  // namespace buda::ops

#pragma GCC visibility pop
