// SPDX-License-Identifier: Apache-2.0
// Comparison of netlists, field by field, with the fields as the writer has them.
#include <buda/netlist/text/diff.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/text/write_context.hpp>

#include <map>

namespace buda::netlist {
namespace {

using DifferenceKind = Difference::Kind;
using Fields = std::vector<FlowMap::Member>;

// Two programs are aligned by a table of this many entries at most; beyond that everything between the ends that agree is new.
constexpr std::size_t kLargestTable = 4'000'000;

Fields with_attributes(Fields fields, const FlowMap& attributes) {
  std::erase_if(fields, [](const auto& f) { return f.first == "attributes"; });
  for (const auto& [key, value] : attributes.list()) fields.emplace_back("attributes." + key, value);
  return fields;
}

Fields op_fields(const Op& op, const Graph& graph) {
  FlowMap map;
  map.add("graph", name_text(graph.name));
  map.add(op_placement(op));
  map.add(op_blocks(op));
  map.add(op_edges(op));
  return with_attributes(map.list(), attribute_fields(op.attributes, &op.inputs));
}

Fields graph_fields(const Graph& graph) {
  return {{"target_device", chips_text(graph.target_device, graph.instances)}, {"input_count", cat(graph.input_count)}};
}

// The content of an instruction apart from queue settings.
std::string head(const Instruction& instruction) {
  if (const auto* execute = std::get_if<instruction::Execute>(&instruction.what)) return cat("execute '", execute->graph, '\'');
  return instruction_text(instruction);
}

struct Step {
  const Instruction* before = nullptr;  // null: only the second program has it
  const Instruction* after = nullptr;
};

// Both programs as one sequence in which as many instructions as possible are common: the longest common subsequence between the parts at
// both ends that agree anyway.
std::vector<Step> align(const std::vector<Instruction>& a, const std::vector<Instruction>& b) {
  std::vector<std::string> x, y;
  for (const auto& i : a) x.push_back(head(i));
  for (const auto& i : b) y.push_back(head(i));
  std::size_t begin = 0, end = 0;
  while (begin < x.size() && begin < y.size() && x[begin] == y[begin]) ++begin;
  while (end + begin < x.size() && end + begin < y.size() && x[x.size() - 1 - end] == y[y.size() - 1 - end]) ++end;
  std::size_t rows = x.size() - begin - end, cols = y.size() - begin - end;
  std::vector<Step> out;
  for (std::size_t i = 0; i < begin; ++i) out.push_back({&a[i], &b[i]});
  bool small = rows == 0 || cols <= kLargestTable / rows;
  std::vector<std::uint32_t> longest(small ? (rows + 1) * (cols + 1) : 0, 0);
  auto at = [&](std::size_t r, std::size_t c) -> std::uint32_t& { return longest[r * (cols + 1) + c]; };
  for (std::size_t r = rows; small && r-- > 0;)
    for (std::size_t c = cols; c-- > 0;)
      at(r, c) = x[begin + r] == y[begin + c] ? at(r + 1, c + 1) + 1 : std::max(at(r + 1, c), at(r, c + 1));
  std::size_t r = 0, c = 0;
  while (r < rows || c < cols) {
    if (small && r < rows && c < cols && x[begin + r] == y[begin + c]) {
      out.push_back({&a[begin + r++], &b[begin + c++]});
    } else if (r < rows && (c == cols || !small || at(r + 1, c) >= at(r, c + 1))) {
      out.push_back({&a[begin + r++], nullptr});
    } else {
      out.push_back({nullptr, &b[begin + c++]});
    }
  }
  for (std::size_t i = 0; i < end; ++i) out.push_back({&a[a.size() - end + i], &b[b.size() - end + i]});
  return out;
}

class Differ {
 public:
  std::vector<Difference> run(const Netlist& a, const Netlist& b) {
    change("netlist", "", "devices.arch", list_text(a.archs), list_text(b.archs));
    elements(
        "queue", a.queues, b.queues, [](const Queue& q) { return q.name; },
        [&](const Queue& x, const Queue& y) { fields("queue", x.name, queue_fields(x).list(), queue_fields(y).list()); });
    elements(
        "graph", a.graphs, b.graphs, [](const Graph& g) { return g.name; },
        [&](const Graph& x, const Graph& y) { fields("graph", x.name, graph_fields(x), graph_fields(y)); });
    using Placed = std::pair<const Op*, const Graph*>;
    auto ops = [](const Netlist& n) {
      std::vector<Placed> out;
      for (const Graph& g : n.graphs)
        for (const Op& op : g.ops) out.emplace_back(&op, &g);
      return out;
    };
    elements(
        "op", ops(a), ops(b), [](const Placed& p) { return p.first->name; },
        [&](const Placed& x, const Placed& y) {
          fields("op", x.first->name, op_fields(*x.first, *x.second), op_fields(*y.first, *y.second));
        });
    elements(
        "fused op", a.fused_ops, b.fused_ops, [](const FusedOp& f) { return f.id; },
        [&](const FusedOp& x, const FusedOp& y) { fused(x, y); });
    elements(
        "program", a.programs, b.programs, [](const Program& p) { return p.name; },
        [&](const Program& x, const Program& y) { program(x, y); });
    others(a, b);
    return std::move(found_);
  }

 private:
  void change(const std::string& element, const std::string& name, const std::string& field, const std::string& a, const std::string& b) {
    if (a != b) found_.push_back({DifferenceKind::changed, element, name, field, a, b});
  }

  template <class Range, class Name, class Compare>
  void elements(const std::string& what, const Range& a, const Range& b, Name name, Compare compare) {
    // Names that occur several times, which is an error of netlists, are told apart by their order.
    using Key = std::pair<std::string, std::size_t>;
    auto keys = [&](const Range& range) {
      std::map<std::string, std::size_t> times;
      std::vector<Key> out;
      for (const auto& e : range) out.emplace_back(name(e), times[name(e)]++);
      return out;
    };
    const auto keys_a = keys(a), keys_b = keys(b);
    std::map<Key, const typename Range::value_type*> in_b;
    std::size_t i = 0;
    for (const auto& e : b) in_b.emplace(keys_b[i++], &e);
    i = 0;
    for (const auto& e : a) {
      auto twin = in_b.find(keys_a[i++]);
      if (twin == in_b.end()) {
        found_.push_back({DifferenceKind::removed, what, name(e), "", "", ""});
      } else {
        compare(e, *twin->second);
        in_b.erase(twin);
      }
    }
    i = 0;
    for (const auto& e : b)
      if (in_b.count(keys_b[i++]) != 0) found_.push_back({DifferenceKind::added, what, name(e), "", "", ""});
  }

  void fields(const std::string& what, const std::string& name, const Fields& a, const Fields& b, const std::string& prefix = "") {
    std::map<std::string_view, std::string_view> in_b;
    for (const auto& [key, value] : b) in_b.emplace(key, value);
    for (const auto& [key, value] : a) {
      auto twin = in_b.find(key);
      change(what, name, prefix + key, value, twin == in_b.end() ? std::string() : std::string(twin->second));
      if (twin != in_b.end()) in_b.erase(twin);
    }
    for (const auto& [key, value] : b)
      if (in_b.count(key) != 0) change(what, name, prefix + key, "", value);
  }

  void fused(const FusedOp& a, const FusedOp& b) {
    change("fused op", a.id, "inputs", cat(a.inputs), cat(b.inputs));
    change("fused op", a.id, "intermediates", cat(a.intermediates), cat(b.intermediates));
    change("fused op", a.id, "custom_kernel_path", a.custom_kernel_path, b.custom_kernel_path);
    using Named = std::pair<std::string, const SubOp*>;  // with its name in messages
    auto steps = [](const FusedOp& f, std::vector<std::string>& order) {
      std::vector<Named> out;
      for (const auto& schedule : f.schedules) {
        std::vector<std::string> names;
        for (const auto& s : schedule) {
          names.push_back(s.name);
          out.emplace_back(cat(f.id, '/', s.name), &s);
        }
        order.push_back(list_text(names));
      }
      return out;
    };
    std::vector<std::string> order_a, order_b;
    auto x = steps(a, order_a), y = steps(b, order_b);
    change("fused op", a.id, "schedules", list_text(order_a), list_text(order_b));
    elements(
        "sub-op", x, y, [](const Named& s) { return s.first; },
        [&](const Named& s, const Named& t) {
          fields("sub-op", s.first, with_attributes(sub_op_fields(*s.second).list(), attribute_fields(s.second->attributes, nullptr)),
                 with_attributes(sub_op_fields(*t.second).list(), attribute_fields(t.second->attributes, nullptr)));
        });
  }

  void program(const Program& a, const Program& b) {
    for (const Step& s : align(a.instructions, b.instructions)) {
      if (s.after == nullptr) {
        found_.push_back({DifferenceKind::removed, "program", a.name, "", head(*s.before), ""});
      } else if (s.before == nullptr) {
        found_.push_back({DifferenceKind::added, "program", a.name, "", "", head(*s.after)});
      } else if (const auto* x = std::get_if<instruction::Execute>(&s.before->what)) {
        settings(a.name, *x, std::get<instruction::Execute>(s.after->what));
      }
    }
  }

  void settings(const std::string& program, const instruction::Execute& a, const instruction::Execute& b) {
    std::map<std::string_view, const QueueSetting*> in_a, in_b;
    for (const auto& s : a.settings) in_a.emplace(s.queue, &s);
    for (const auto& s : b.settings) in_b.emplace(s.queue, &s);
    auto what = [&](const QueueSetting& s) { return cat("execute '", a.graph, "' setting '", s.queue, '\''); };
    for (const auto& s : a.settings) {
      auto twin = in_b.find(s.queue);
      if (twin == in_b.end())
        found_.push_back({DifferenceKind::removed, "program", program, what(s), setting_fields(s).text(), ""});
      else
        fields("program", program, setting_fields(s).list(), setting_fields(*twin->second).list(), what(s) + " ");
    }
    for (const auto& s : b.settings)
      if (in_a.count(s.queue) == 0) found_.push_back({DifferenceKind::added, "program", program, what(s), "", setting_fields(s).text()});
  }

  void others(const Netlist& a, const Netlist& b) {
    auto sections = [](const Netlist& n) {
      Fields out;
      for (const auto& [key, node] : n.other) out.emplace_back(key, io::json_line(node));
      return out;
    };
    fields("netlist", "", sections(a), sections(b));
  }

  std::vector<Difference> found_;
};

}  // namespace

std::string Difference::text() const {
  std::string out = kind == DifferenceKind::removed ? "- " : kind == DifferenceKind::added ? "+ " : "~ ";
  out += element;
  if (!name.empty()) out += cat(" '", name, '\'');
  if (!field.empty()) out += cat(' ', field);
  if (kind == DifferenceKind::changed) return cat(out, ": ", before.empty() ? "none" : before, " -> ", after.empty() ? "none" : after);
  const std::string& value = kind == DifferenceKind::removed ? before : after;
  return value.empty() ? out : cat(out, ": ", value);
}

std::vector<Difference> diff(const Netlist& before, const Netlist& after) { return Differ().run(before, after); }

}  // namespace buda::netlist
