// SPDX-License-Identifier: Apache-2.0
// Renaming and joining.
#include "buda/image/merge_netlist.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <iterator>
#include <map>

namespace buda::image {
namespace {

namespace instruction = netlist::instruction;

class PartNames {
 public:
  PartNames(const netlist::Netlist& netlist, std::string prefix) : prefix_(std::move(prefix)) {
    for (const auto& q : netlist.queues) known_.insert(q.name);
    for (const auto& g : netlist.graphs) {
      known_.insert(g.name);
      for (const auto& op : g.ops) known_.insert(op.name);
    }
  }
  void rename(std::string& name) const { name.insert(0, prefix_); }
  void rename(std::vector<std::string>& names) const {
    for (auto& name : names) rename(name);
  }
  // HOST, and what is no name, stay.
  void rename_if_known(std::string& name) const {
    if (known_.contains(name)) rename(name);
  }

 private:
  std::string prefix_;
  std::set<std::string> known_;
};

void rename_program(netlist::Program& program, const PartNames& names) {
  names.rename(program.name);
  for (auto& i : program.instructions) {
    if (auto* a = std::get_if<instruction::Allocate>(&i.what)) {
      names.rename(a->queues);
    } else if (auto* d = std::get_if<instruction::Deallocate>(&i.what)) {
      names.rename(d->queues);
    } else if (auto* e = std::get_if<instruction::Execute>(&i.what)) {
      names.rename(e->graph);
      for (auto& s : e->settings) names.rename(s.queue);
    }
  }
}

}  // namespace

void rename_parts(netlist::Netlist& netlist, const std::string& prefix, std::size_t first_fused) {
  const PartNames names(netlist, prefix);
  std::map<std::string, std::string> fused;
  for (auto& f : netlist.fused_ops) {
    f.id = fused[f.id] = cat(first_fused++);
    for (auto& schedule : f.schedules)
      for (auto& sub : schedule) names.rename(sub.name);
  }
  for (auto& q : netlist.queues) {
    names.rename(q.name);
    names.rename_if_known(q.input);
    names.rename_if_known(q.alias);
  }
  for (auto& g : netlist.graphs) {
    names.rename(g.name);
    for (auto& op : g.ops) {
      names.rename(op.name);
      for (auto& in : op.inputs) {
        names.rename(in.name);
        names.rename_if_known(in.forked_from);
      }
      if (auto id = fused.find(op.attributes.fused_op_id); id != fused.end()) op.attributes.fused_op_id = id->second;
    }
  }
  for (auto& p : netlist.programs) rename_program(p, names);
}

void rename_parts(host_plan::HostPlan& plan, const std::string& prefix) {
  auto tensors = [&](std::vector<host_plan::PlanTensor>& list) {
    for (auto& t : list)
      if (!t.queue.empty()) t.queue.insert(0, prefix);
  };
  tensors(plan.inputs);
  tensors(plan.outputs);
  for (auto& p : plan.parameters) p.queue.insert(0, prefix);
  for (auto& s : plan.segments) {
    tensors(s.inputs);
    tensors(s.outputs);
    for (auto& program : s.programs) program.insert(0, prefix);
  }
}

netlist::Netlist joined(const std::vector<netlist::Netlist>& netlists) {
  netlist::Netlist out;
  for (const auto& n : netlists) {
    out.arch = n.arch;
    out.archs = {n.arch};
    auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(out.queues, n.queues);
    append(out.graphs, n.graphs);
    append(out.programs, n.programs);
    append(out.fused_ops, n.fused_ops);
  }
  return out;
}

std::set<std::string> dynamic_queues(const netlist::Netlist& netlist) {
  std::set<std::string> out;
  for (const auto& program : netlist.programs)
    for (const auto& i : program.instructions)
      if (const auto* a = std::get_if<instruction::Allocate>(&i.what)) out.insert(a->queues.begin(), a->queues.end());
  return out;
}

namespace {

// What a program does with its queues and with the variables of their pointers.
class DynamicFinder {
 public:
  DynamicFinder(netlist::Netlist& netlist, const std::set<std::string>& kept) : netlist_(netlist), kept_(kept) {
    std::map<std::string, std::string> graph_of_op;
    for (const auto& g : netlist.graphs)
      for (const auto& op : g.ops) {
        graph_of_op[op.name] = g.name;
        for (const auto& in : op.inputs) read_by_[g.name].insert(in.name);
      }
    for (const auto& q : netlist.queues) {
      if (auto g = graph_of_op.find(q.input); g != graph_of_op.end()) writer_[q.name] = g->second;
      if (!q.alias.empty()) shared_.insert({q.name, q.alias});
    }
  }

  void run() {
    const auto already = dynamic_queues(netlist_);
    for (std::size_t p = 0; p < netlist_.programs.size(); ++p) {
      std::set<std::string> found;
      for (const auto& q : netlist_.queues)
        if (!already.contains(q.name) && carries_within(q, p)) found.insert(q.name);
      drop_shared_variables(netlist_.programs[p], found);
      if (!found.empty()) make(netlist_.programs[p], found);
    }
  }

 private:
  bool touches(const instruction::Execute& e, const std::string& queue) const { return writer_.at(queue) == e.graph || reads(e, queue); }
  bool reads(const instruction::Execute& e, const std::string& queue) const {
    auto names = read_by_.find(e.graph);
    return (names != read_by_.end() && names->second.contains(queue)) || setting(e, queue) != nullptr;
  }
  static const netlist::QueueSetting* setting(const instruction::Execute& e, const std::string& queue) {
    for (const auto& s : e.settings)
      if (s.queue == queue) return &s;
    return nullptr;
  }

  // A queue that an op fills; only program `p` touches it, writes it first and reads it last.
  bool carries_within(const netlist::Queue& q, std::size_t p) const {
    if (q.kind != netlist::QueueKind::queue || kept_.contains(q.name) || shared_.contains(q.name) || !writer_.contains(q.name))
      return false;
    const instruction::Execute *first = nullptr, *last = nullptr;
    for (std::size_t other = 0; other < netlist_.programs.size(); ++other)
      for (const auto& i : netlist_.programs[other].instructions) {
        const auto* e = std::get_if<instruction::Execute>(&i.what);
        if (e == nullptr || !touches(*e, q.name)) continue;
        if (other != p) return false;
        if (first == nullptr) first = e;
        last = e;
      }
    return first != nullptr && !reads(*first, q.name) && reads(*last, q.name);
  }

  static std::vector<netlist::Value> pointers_of(const netlist::QueueSetting& s) {
    std::vector<netlist::Value> out;
    for (const auto* v : {&s.rd_ptr_local, &s.rd_ptr_global, &s.wr_ptr_global})
      if (*v) out.push_back(**v);
    return out;
  }

  // Until nothing changes: a queue whose pointers are numbers, or variables that a queue or a computation outside of the set uses, is
  // taken out of the set.
  void drop_shared_variables(const netlist::Program& program, std::set<std::string>& found) const {
    const auto statics = static_variables(program);
    for (bool changed = true; changed;) {
      std::set<std::string> used_elsewhere, own;
      std::set<std::string> bad;
      for (const auto& i : program.instructions) {
        if (const auto* e = std::get_if<instruction::Execute>(&i.what)) {
          for (const auto& s : e->settings)
            for (const auto& v : pointers_of(s)) {
              if (found.contains(s.queue) && !v.is_variable()) bad.insert(s.queue);
              if (v.is_variable()) (found.contains(s.queue) ? own : used_elsewhere).insert(v.variable);
            }
        } else if (const auto* c = std::get_if<instruction::VarInst>(&i.what)) {
          for (const auto& v : c->args)
            if (v.is_variable() && v.variable != c->out) used_elsewhere.insert(v.variable);
        } else if (const auto* l = std::get_if<instruction::Loop>(&i.what)) {
          if (l->count.is_variable()) used_elsewhere.insert(l->count.variable);
        }
      }
      for (const auto& i : program.instructions)
        if (const auto* e = std::get_if<instruction::Execute>(&i.what))
          for (const auto& s : e->settings)
            for (const auto& v : pointers_of(s))
              if (v.is_variable() && found.contains(s.queue) && (used_elsewhere.contains(v.variable) || !statics.contains(v.variable)))
                bad.insert(s.queue);
      for (const auto& q : bad) found.erase(q);
      changed = !bad.empty();
    }
  }

  static std::set<std::string> static_variables(const netlist::Program& program) {
    std::set<std::string> out;
    for (const auto& i : program.instructions)
      if (const auto* v = std::get_if<instruction::Var>(&i.what); v != nullptr && v->is_static)
        for (const auto& [name, value] : v->values) out.insert(name);
    return out;
  }

  static void make(netlist::Program& program, const std::set<std::string>& queues) {
    std::set<std::string> pointers;
    for (const auto& i : program.instructions)
      if (const auto* e = std::get_if<instruction::Execute>(&i.what))
        for (const auto& s : e->settings)
          if (queues.contains(s.queue))
            for (const auto& v : pointers_of(s)) pointers.insert(v.variable);
    std::vector<netlist::Instruction> out;
    bool allocated = false;
    const std::vector<std::string> names(queues.begin(), queues.end());
    for (auto& i : program.instructions) {
      auto* v = std::get_if<instruction::Var>(&i.what);
      if (v != nullptr && v->is_static) {
        instruction::Var locals{false, {}};
        std::erase_if(v->values, [&](const auto& value) {
          if (pointers.contains(value.first)) locals.values.push_back(value);
          return pointers.contains(value.first);
        });
        if (!v->values.empty()) out.push_back(i);
        if (!locals.values.empty()) out.push_back({std::move(locals), i.place});
        continue;
      }
      const bool declares = v != nullptr || std::holds_alternative<instruction::Param>(i.what);
      if (!declares && !allocated) {
        out.push_back({instruction::Allocate{names}, i.place});
        allocated = true;
      }
      out.push_back(std::move(i));
    }
    out.push_back({instruction::Deallocate{names}, {}});
    program.instructions = std::move(out);
  }

  netlist::Netlist& netlist_;
  const std::set<std::string>& kept_;
  std::map<std::string, std::string> writer_;             // graph that fills a queue
  std::map<std::string, std::set<std::string>> read_by_;  // names that a graph's ops read
  std::set<std::string> shared_;                          // queues with an alias, and those that are one
};

}  // namespace

void make_dynamic(netlist::Netlist& netlist, const std::set<std::string>& kept) { DynamicFinder(netlist, kept).run(); }

}  // namespace buda::image
