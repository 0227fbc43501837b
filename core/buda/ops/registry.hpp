// All operations by level and name.
#pragma once

#include <buda/ops/op.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  std::map<std::pair<Level, std::string>, OpDef, std::less<>> defs_;
  std::vector<std::string> families_;
};

// The operations of this toolchain: every family's list, in families.cpp.
const Registry& standard_ops();

}  // namespace buda::ops
