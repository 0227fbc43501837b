// The pieces of text that the parts of the netlist writer share. Internal to this module.
#pragma once

#include <buda/netlist/netlist.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

// A name as YAML: whole numbers stay plain, everything else is quoted where it has to be.
std::string name_text(std::string_view name);
// A real number that reads back as one: 0.0, 1e-05, -.inf.
std::string real_text(double value);
std::string tms_text(const std::vector<Tm>& tms);
// "{m_k: 2, u_kt: 4}"; empty when there is nothing to say. `inputs` is null for sub-ops.
std::string attributes_text(const OpAttributes& attributes, const std::vector<OpInput>* inputs);
void write_fused_op(const FusedOp& fused, std::string& out);
void write_program(const Program& program, std::string& out);

// Collects "key: value" members of a flow map.
class FlowMap {
 public:
  void add(std::string_view key, std::string_view value) {
    if (!text_.empty()) text_ += ", ";
    text_ += key;
    text_ += ": ";
    text_ += value;
  }
  bool empty() const { return text_.empty(); }
  const std::string& members() const { return text_; }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace buda::netlist
