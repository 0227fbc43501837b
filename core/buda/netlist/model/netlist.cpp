// SPDX-License-Identifier: Apache-2.0
// Comparison and names of the netlist's parts.
#include <buda/netlist/model/netlist.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <tuple>

namespace buda::netlist {

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Graph::Graph() = default;
Graph::Graph(const Graph&) = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(const Graph&) = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Netlist::Netlist() = default;
Netlist::Netlist(const Netlist&) = default;
Netlist::Netlist(Netlist&&) noexcept = default;
Netlist& Netlist::operator=(const Netlist&) = default;
Netlist& Netlist::operator=(Netlist&&) noexcept = default;
Netlist::~Netlist() = default;

std::string text(const SubOperand& operand) {
  switch (operand.kind) {
    case SubOperand::Kind::input:
      return cat("input", operand.index);
    case SubOperand::Kind::intermed:
      return cat("intermed", operand.index);
    case SubOperand::Kind::dest:
      return "dest";
    case SubOperand::Kind::output:
      return "output";
  }
  return "";
}

bool operator==(const QueueSetting& a, const QueueSetting& b) {
  auto key = [](const QueueSetting& s) {
    return std::tie(s.queue, s.prologue, s.epilogue, s.zero, s.read_only, s.rd_ptr_local, s.rd_ptr_global, s.wr_ptr_global,
                    s.rd_ptr_autoinc, s.global_rdptr_autoinc, s.global_wrptr_autoinc);
  };
  return key(a) == key(b);
}

bool operator==(const Netlist& a, const Netlist& b) {
  if (a.other.size() != b.other.size()) return false;
  for (std::size_t i = 0; i < a.other.size(); ++i)
    if (a.other[i].first != b.other[i].first || io::json_line(a.other[i].second) != io::json_line(b.other[i].second)) return false;
  return std::tie(a.archs, a.arch, a.queues, a.graphs, a.programs, a.fused_ops) ==
         std::tie(b.archs, b.arch, b.queues, b.graphs, b.programs, b.fused_ops);
}

}  // namespace buda::netlist
