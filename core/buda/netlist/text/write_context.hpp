// SPDX-License-Identifier: Apache-2.0
// The pieces of text that the parts of the netlist writer share. Internal to this module.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::netlist {

// A name as YAML: integers stay plain, everything else is quoted where it has to be.
std::string name_text(std::string_view name);
// A real number that reads back as one: 0.0, 1e-05, -.inf.
std::string real_text(double value);
std::string tms_text(const std::vector<Tm>& tms);
void write_fused_op(const FusedOp& fused, std::string& out);
void write_program(const Program& program, std::string& out);
// "execute: {graph_name: fwd, ...}", on several lines where it has settings.
std::string instruction_text(const Instruction& instruction);

// The "key: value" members of a flow map, in their order.
class FlowMap {
 public:
  using Member = std::pair<std::string, std::string>;

  void add(std::string_view key, std::string_view value) { list_.emplace_back(key, value); }
  void add(FlowMap more) { list_.insert(list_.end(), more.list_.begin(), more.list_.end()); }
  bool empty() const { return list_.empty(); }
  const std::vector<Member>& list() const { return list_; }
  // "a: 1, b: 2"
  std::string members() const {
    std::string out;
    for (const auto& [key, value] : list_) {
      if (!out.empty()) out += ", ";
      out.append(key).append(": ").append(value);
    }
    return out;
  }
  std::string text() const { return "{" + members() + "}"; }

 private:
  std::vector<Member> list_;
};

// What the writer writes of each, for others who look at netlists field by field. An op's three lines: its placement and what it reads,
// blocks and formats, edges and attributes.
FlowMap queue_fields(const Queue& queue);
FlowMap op_placement(const Op& op);
FlowMap op_blocks(const Op& op);
FlowMap op_edges(const Op& op);
FlowMap setting_fields(const QueueSetting& setting);
FlowMap sub_op_fields(const SubOp& op);
// Attributes that differ from their defaults. `inputs` is null for sub-ops.
FlowMap attribute_fields(const OpAttributes& attributes, const std::vector<OpInput>* inputs);
// A chip, or the list of several.
std::string chips_text(std::int32_t chip, const std::vector<std::int32_t>& instances);

}  // namespace buda::netlist
