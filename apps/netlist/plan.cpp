// SPDX-License-Identifier: Apache-2.0
// netlist plan: executed epochs with their queue pointers, as text or as JSON lines.
#include "apps/netlist/run.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/program/plan.hpp>

#include <algorithm>

namespace buda::netlist_tool {
namespace {

using io::Node;
using netlist::Netlist;
using netlist::PlanAccess;
using netlist::PlanStep;

// What a setting says, with the defaults of the queue's kind; absent pointers are left out.
std::vector<std::pair<std::string, std::int64_t>> pointers_of(const netlist::ResolvedSetting& s) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  if (s.rd_ptr_local) out.emplace_back("rd_ptr_local", *s.rd_ptr_local);
  if (s.rd_ptr_global) out.emplace_back("rd_ptr_global", *s.rd_ptr_global);
  if (s.wr_ptr_global) out.emplace_back("wr_ptr_global", *s.wr_ptr_global);
  out.emplace_back("rd_ptr_autoinc", s.rd_ptr_autoinc);
  out.emplace_back("global_rdptr_autoinc", s.global_rdptr_autoinc);
  out.emplace_back("global_wrptr_autoinc", s.global_wrptr_autoinc);
  return out;
}

std::vector<std::string> flags_of(const netlist::ResolvedSetting& s) {
  std::vector<std::string> out;
  if (s.prologue) out.emplace_back("prologue");
  if (s.epilogue) out.emplace_back("epilogue");
  if (s.zero) out.emplace_back("zero");
  if (s.read_only) out.emplace_back("read_only");
  return out;
}

// "slots 3 to 0" of a queue of 4 that is read from pointer 3 for two inputs.
std::string slots_text(const PlanAccess& a, const netlist::Queue& q, std::int32_t inputs) {
  std::int64_t first = a.slot(0, q.entries), last = a.slot(inputs - 1, q.entries);
  if (first < 0) return "no slots";
  return first == last ? cat("slot ", first) : cat("slots ", first, " to ", last);
}

class Show {
 public:
  Show(const Netlist& netlist, bool json, io::OutputFile& out) : netlist_(netlist), json_(json), out_(out) {}

  Result<void> operator()(const PlanStep& step) {
    if (json_) return out_.write(io::json_line(node(step)) + "\n");
    std::string text;
    if (shown_ != step.program + 1) text += cat("program ", netlist_.programs[step.program].name, '\n');
    shown_ = step.program + 1;
    return out_.write(text + lines(step));
  }

 private:
  std::string lines(const PlanStep& step) const {
    if (step.kind == PlanStep::Kind::pop)
      return cat("  pop ", netlist_.queues[step.queue].name, ": global read pointer ", step.pointer, '\n');
    if (step.kind != PlanStep::Kind::execute)
      return cat(step.kind == PlanStep::Kind::allocate ? "  allocate " : "  deallocate ", netlist_.queues[step.queue].name, '\n');
    const netlist::Graph& graph = netlist_.graphs[step.graph];
    std::string out = cat("epoch ", step.epoch, ": ", graph.name, " on chip ", graph.target_device, ", ", graph.input_count,
                          graph.input_count == 1 ? " input\n" : " inputs\n");
    std::size_t width = 0;
    for (const auto& a : step.accesses) width = std::max(width, netlist_.queues[a.queue].name.size());
    for (const auto& a : step.accesses) out += line(a, width, graph.input_count);
    return out;
  }

  std::string line(const PlanAccess& a, std::size_t width, std::int32_t inputs) const {
    const netlist::Queue& q = netlist_.queues[a.queue];
    std::string out = cat("  ", a.writes ? "write " : "read  ", q.name, std::string(width - q.name.size() + 2, ' '),
                          slots_text(a, q, inputs), " of ", name_of(q.kind), ' ', q.entries);
    if (a.setting == nullptr) return out + "\n";
    std::vector<std::string> parts = flags_of(*a.setting);
    const netlist::ResolvedSetting& s = *a.setting;
    auto pointer = [&](const char* name, const std::optional<std::int32_t>& value) {
      if (value) parts.push_back(cat(name, ' ', *value));
    };
    pointer("rd_ptr_local", s.rd_ptr_local);
    pointer("rd_ptr_global", s.rd_ptr_global);
    pointer("wr_ptr_global", s.wr_ptr_global);
    return cat(out, "; ", join(parts, ", "), '\n');
  }

  Node node(const PlanStep& step) const {
    Node out = Node::map();
    out.add("program", Node::string(netlist_.programs[step.program].name));
    switch (step.kind) {
      case PlanStep::Kind::allocate:
        out.add("allocate", Node::string(netlist_.queues[step.queue].name));
        return out;
      case PlanStep::Kind::deallocate:
        out.add("deallocate", Node::string(netlist_.queues[step.queue].name));
        return out;
      case PlanStep::Kind::pop:
        out.add("pop", Node::string(netlist_.queues[step.queue].name));
        out.add("rd_ptr_global", Node::integer(step.pointer));
        return out;
      case PlanStep::Kind::execute:
        break;
    }
    const netlist::Graph& graph = netlist_.graphs[step.graph];
    out.add("epoch", Node::integer(static_cast<std::int64_t>(step.epoch)));
    out.add("execute", Node::string(graph.name));
    out.add("chip", Node::integer(graph.target_device));
    out.add("inputs", Node::integer(graph.input_count));
    Node queues = Node::list();
    for (const auto& a : step.accesses) queues.push(node(a));
    out.add("queues", std::move(queues));
    return out;
  }

  Node node(const PlanAccess& a) const {
    const netlist::Queue& q = netlist_.queues[a.queue];
    Node out = Node::map();
    out.add("name", Node::string(q.name));
    out.add("access", Node::string(a.writes ? "write" : "read"));
    out.add("type", Node::string(std::string(name_of(q.kind))));
    out.add("entries", Node::integer(q.entries));
    out.add("slot", Node::integer(a.slot(0, q.entries)));
    out.add("step", Node::integer(a.step));
    if (a.setting == nullptr) return out;
    for (const auto& flag : flags_of(*a.setting)) out.add(flag, Node::boolean(true));
    for (const auto& [name, value] : pointers_of(*a.setting)) out.add(name, Node::integer(value));
    return out;
  }

  const Netlist& netlist_;
  bool json_;
  io::OutputFile& out_;
  std::size_t shown_ = 0;  // the program whose steps are shown, plus one
};

}  // namespace

Result<void> plan(const Options& o, Host& host) {
  netlist::PlanOptions options;
  options.programs = o.programs;
  for (const auto& text : o.params) {
    auto equal = text.find('=');
    auto value = equal == std::string::npos ? std::nullopt : parse_int(text.substr(equal + 1));
    if (!value || equal == 0 || *value != static_cast<std::int32_t>(*value))
      return usage_error("NT001", cat("option --param: '", text, "' is not NAME=VALUE with a 32-bit integer"));
    options.parameters[text.substr(0, equal)] = static_cast<std::int32_t>(*value);
  }
  BUDA_ASSIGN(auto netlist, read_netlist(o.netlist, false, host));
  BUDA_ASSIGN(auto out, host.fs().create(o.output, host.write_mode));
  Show show(netlist, o.format == "json", *out);
  BUDA_TRY(netlist::plan_programs(netlist, options, [&](const PlanStep& step) { return show(step); }));
  return out->commit();
}

}  // namespace buda::netlist_tool
