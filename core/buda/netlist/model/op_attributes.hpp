// The attributes of ops: what they are called, which ops take them, and what they mean.
#pragma once

#include <buda/netlist/model/op_types.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace buda::netlist {

struct AttributeInfo {
  std::string_view key;
  std::string_view value;     // what it may be: "int > 0", "true or false", "r, c or rc"
  std::string_view absent;    // what holds without it; empty where that is nothing
  std::string_view meaning;   // a sentence without its full stop
  std::uint64_t ops = 0;      // a bit per OpType
  std::uint64_t sub_ops = 0;  // the same for sub-ops of fused ops
  bool for_op(OpType type) const { return (ops >> static_cast<unsigned>(type) & 1u) != 0; }
  bool for_sub_op(OpType type) const { return (sub_ops >> static_cast<unsigned>(type) & 1u) != 0; }
};

// In the order in which the documentation has them. The ranges of splice, `input0` to `input7`, are one row called "inputN".
const std::vector<AttributeInfo>& all_attributes();
const AttributeInfo* find_attribute(std::string_view key);

}  // namespace buda::netlist
