// SPDX-License-Identifier: Apache-2.0
// The table of the attributes of device ops: their names, types and ranges, which ops have them, and what they mean to people. Readers and
// writers of netlists, the attributes of graphs at device level, balancing and documentation take them from here.
//
// The rows are in device_attributes.def.
#pragma once

#include <buda/ops/table/op.hpp>
#include <buda/ops/table/op_type.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::ops {

// A bit per op class.
using ClassSet = std::uint32_t;
inline constexpr ClassSet kAnyClass = ~ClassSet{0};
template <class... C>
constexpr ClassSet of(C... classes) {
  return (ClassSet{0} | ... | (ClassSet{1} << static_cast<unsigned>(classes)));
}
constexpr bool contains(ClassSet set, OpClass c) { return (set & of(c)) != 0; }

// Where the attribute of a netlist's op comes from when a graph is compiled.
enum class AttributeSource : std::uint8_t {
  graph,     // from the attribute of the same name
  balancer,  // it chooses it; graphs do not have it
  nowhere,   // what is compiled has none
};

inline constexpr double kAnyNegative = -std::numeric_limits<double>::infinity();

struct DeviceAttribute {
  std::string_view key;
  AttrType type = AttrType::integer;
  std::optional<Attr> standard = {};    // what holds without it; nothing: it has to be there, or means nothing
  std::vector<std::string> words = {};  // of a text; empty: any
  // Of numbers; integers have 32 bits. Netlists may exceed what real numbers are limited to, which a rule of netlists finds.
  double min = 0, max = std::numeric_limits<double>::infinity();
  std::string_view value = "";  // what it may be, where type, words and range do not say it to people
  std::string_view meaning;     // a sentence without its full stop
  // Ops to which it means something. Types whose rows name it are of these, and so are fused ops of them.
  ClassSet used_by = 0;
  ClassSet accepted_by = used_by;  // ops that may have it: where it is not accepted, TT-Buda's parser ends
  ClassSet in_sub_ops = 0;         // steps of fused ops that may have it, besides types whose rows name it
  AttributeSource source = AttributeSource::nowhere;

  std::int64_t min_integer() const;
  std::int64_t max_integer() const;
  bool in_range(double number) const { return number >= min && number <= max; }
  // "int", "true or false", "r, c or z"
  std::string value_text() const;
  // "false", "rc"; empty where nothing holds
  std::string standard_text() const;
  bool for_op(OpType type) const;
  bool for_sub_op(OpType type) const;
  bool is_used_by(OpType type) const;
};

// In the order in which netlists are written. The ranges of splice, `input0` to `input7`, are one row called "inputN".
const std::vector<DeviceAttribute>& device_attributes();
const DeviceAttribute* find_device_attribute(std::string_view key);

// The attribute as the definition of an op at device level has it.
AttrDef device_attr(std::string_view key);
// The same where graphs take another value for an absent one than netlists.
AttrDef device_attr(std::string_view key, Attr standard);

}  // namespace buda::ops
