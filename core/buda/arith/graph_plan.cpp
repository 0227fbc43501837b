// SPDX-License-Identifier: Apache-2.0
// Resolving names, checking shapes, and ordering.
#include <buda/arith/graph_plan.hpp>

#include <buda/arith/tile_sizes.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <set>

namespace buda::arith {
namespace {

using netlist::Field;
using netlist::Graph;
using netlist::MapError;
using netlist::Netlist;
using netlist::Op;
using netlist::OpClass;
using netlist::Queue;
using netlist::TileShape;

struct OpPlace {
  std::size_t graph, op;
};

class Planner {
 public:
  Planner(const Netlist& netlist, std::int64_t most_numbers) : netlist_(netlist), most_numbers_(most_numbers) {
    for (std::size_t q = 0; q < netlist.queues.size(); ++q) {
      queues_.emplace(netlist.queues[q].name, q);
      if (!netlist.queues[q].from_outside()) fed_by_[netlist.queues[q].input].push_back(q);
    }
    for (const auto& fused : netlist.fused_ops) fused_.emplace(fused.id, &fused);
    for (std::size_t g = 0; g < netlist.graphs.size(); ++g)
      for (std::size_t o = 0; o < netlist.graphs[g].ops.size(); ++o) ops_.emplace(netlist.graphs[g].ops[o].name, OpPlace{g, o});
  }

  Result<Plans> run() {
    std::set<std::string> executed;
    for (const auto& program : netlist_.programs)
      for (const auto& instruction : program.instructions)
        if (const auto* execute = std::get_if<netlist::instruction::Execute>(&instruction.what)) executed.insert(execute->graph);
    Plans plans;
    for (std::size_t g = 0; g < netlist_.graphs.size(); ++g)
      if (executed.count(netlist_.graphs[g].name) != 0) plans.graphs.emplace(g, plan(g));
    group(plans);
    if (!failure_.empty()) return failure_;
    for (auto& [g, p] : plans.graphs)
      for (auto& op : p.ops) op.exported = exported_.count(op.op->name) != 0;
    return plans;
  }

 private:
  GraphPlan plan(std::size_t g) {
    const Graph& graph = netlist_.graphs[g];
    GraphPlan out;
    out.graph = &graph;
    const std::vector<std::size_t> order = ordered(g);
    std::vector<std::size_t> place(graph.ops.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::set<std::size_t> read;
    for (std::size_t index : order) {
      OpPlan op = plan_op(g, graph.ops[index]);
      for (auto& edge : op.inputs) {
        if (edge.from == EdgePlan::From::op) {
          edge.index = place[edge.index];
          // In a circle, which has been told of, a producer comes later.
          if (edge.index < out.ops.size()) ++out.ops[edge.index].uses;
        }
        if (edge.from == EdgePlan::From::queue) read.insert(edge.index);
      }
      out.ops.push_back(std::move(op));
    }
    out.queues.assign(read.begin(), read.end());
    return out;
  }

  // Joins graphs that feed each other, and orders the ops of each group.
  void group(Plans& plans) {
    std::map<std::size_t, std::size_t> root;
    for (const auto& [g, p] : plans.graphs) root[g] = g;
    auto find = [&](std::size_t g) {
      while (root[g] != g) g = root[g];
      return g;
    };
    for (const auto& [g, p] : plans.graphs)
      for (const OpPlan& op : p.ops)
        for (const auto& input : op.op->inputs)
          if (auto producer = ops_.find(input.name); producer != ops_.end() && queues_.count(input.name) == 0 &&
                                                     producer->second.graph != g && root.count(producer->second.graph) != 0)
            root[std::max(find(g), find(producer->second.graph))] = std::min(find(g), find(producer->second.graph));
    std::map<std::size_t, std::size_t> group_of;
    for (auto& [g, p] : plans.graphs) {
      auto [it, fresh] = group_of.emplace(find(g), plans.groups.size());
      if (fresh) plans.groups.emplace_back();
      p.group = it->second;
      plans.groups[it->second].graphs.push_back(g);
    }
    for (GraphGroup& g : plans.groups) order(plans, g);
  }

  // Graph by graph what has its inputs, again and again until nothing is left. Each graph's ops are in order already, so that all of
  // them come in one pass, but for those that wait for another graph.
  void order(const Plans& plans, GraphGroup& group) {
    std::map<std::size_t, std::vector<std::size_t>> waiting;
    for (std::size_t g : group.graphs)
      for (std::size_t i = 0; i < plans.graphs.at(g).ops.size(); ++i) waiting[g].push_back(i);
    std::set<std::string> done;
    auto ready = [&](const OpPlan& op) {
      return std::all_of(op.op->inputs.begin(), op.op->inputs.end(), [&](const netlist::OpInput& input) {
        auto producer = ops_.find(input.name);
        return queues_.count(input.name) != 0 || producer == ops_.end() || waiting.count(producer->second.graph) == 0 ||
               done.count(input.name) != 0;
      });
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& [g, ops] : waiting) {
        std::vector<std::size_t> left;
        for (std::size_t i : ops) {
          const OpPlan& op = plans.graphs.at(g).ops[i];
          if (!ready(op)) {
            left.push_back(i);
            continue;
          }
          group.order.emplace_back(g, i);
          done.insert(op.op->name);
          moved = true;
        }
        ops = std::move(left);
      }
    }
    for (const auto& [g, ops] : waiting)
      if (!ops.empty() && failure_.empty()) {
        const Op& op = *plans.graphs.at(g).ops[ops.front()].op;
        error("GD005", op, Field::inputs, -1, "it waits for an op of another graph, which waits for it", "");
      }
  }

  // Depth first, without recursion: graphs may be long chains.
  std::vector<std::size_t> ordered(std::size_t g) {
    const Graph& graph = netlist_.graphs[g];
    enum : std::uint8_t { fresh, open, done };
    std::vector<std::uint8_t> state(graph.ops.size(), fresh);
    std::vector<std::size_t> order;
    std::vector<std::pair<std::size_t, std::size_t>> stack;  // op, next input
    for (std::size_t root = 0; root < graph.ops.size(); ++root) {
      if (state[root] != fresh) continue;
      stack.emplace_back(root, 0);
      state[root] = open;
      while (!stack.empty()) {
        auto& [index, next] = stack.back();
        const Op& op = graph.ops[index];
        if (next == op.inputs.size()) {
          state[index] = done;
          order.push_back(index);
          stack.pop_back();
          continue;
        }
        auto found = ops_.find(op.inputs[next++].name);
        if (found == ops_.end() || found->second.graph != g) continue;
        const std::size_t producer = found->second.op;
        if (state[producer] == open) {
          error("GD005", op, Field::inputs, -1, cat("it waits for '", graph.ops[producer].name, "', which waits for it"), "");
          continue;
        }
        if (state[producer] == fresh) {
          state[producer] = open;
          stack.emplace_back(producer, 0);
        }
      }
    }
    return order;
  }

  OpPlan plan_op(std::size_t g, const Op& op) {
    OpPlan out;
    out.op = &op;
    OpShapes shapes{op, {}, {}, nullptr};
    if (auto found = fused_.find(op.attributes.fused_op_id); found != fused_.end()) shapes.fused = out.fused = found->second;
    bool known = true;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      auto edge = plan_input(g, op, i, shapes);
      known = known && edge.has_value();
      if (edge) out.inputs.push_back(std::move(*edge));
    }
    if (!known) return failed(op);
    const TileSizes sizes = tile_sizes(op, shapes.dims);
    for (std::size_t i = 0; i < out.inputs.size(); ++i) out.inputs[i].tiles = sizes.inputs[i];
    auto work = std::make_shared<Op>(op);
    work->tile_dim = sizes.out;
    const OpShapes working{*work, shapes.inputs, sizes.inputs, shapes.fused};
    out.work = work;
    if (auto unable = check_op(working)) {
      error(unable->missing ? "GD001" : "GD002", op, Field::type, -1, unable->reason, unable->hint);
      return failed(op);
    }
    if (works_by_t(op, shapes) && numbers_laid_out(out, sizes) > most_numbers_) {
      auto by_t = std::make_shared<Op>(*work);
      by_t->block.t = 1;
      out.by_t = by_t;
    }
    out.flops = op_kind(op.type).flops(op);
    auto fed = fed_by_.find(op.name);
    if (fed == fed_by_.end()) return out;
    for (std::size_t q : fed->second)
      if (auto write = plan_write(op, q)) out.writes.push_back(std::move(*write));
    return out;
  }

  // Whether matrix t of the output depends on matrix t of each input only, and on nothing that counts numbers across them.
  static bool works_by_t(const Op& op, const OpShapes& shapes) {
    switch (netlist::op_class(op.type)) {
      case OpClass::binary:
      case OpClass::quant:
      case OpClass::unary:
      case OpClass::depthwise:
        break;
      case OpClass::sfpu:
        if (op.type == netlist::OpType::dropout) return false;
        break;
      case OpClass::matmul:
        if (op.attributes.identity || op.attributes.accumulate) return false;
        break;
      default:
        return false;
    }
    const std::int64_t t = op.shape().t;
    return t > 1 && !op.gradient_op &&
           std::all_of(shapes.inputs.begin(), shapes.inputs.end(), [&](const TileShape& s) { return s.t == t; });
  }

  // Numbers that are copied for the op's inputs.
  static std::int64_t numbers_laid_out(const OpPlan& op, const TileSizes& sizes) {
    std::int64_t numbers = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) numbers += op.inputs[i].gather.tiles() * sizes.inputs[i].datums();
    return numbers;
  }

  static OpPlan failed(const Op& op) {
    OpPlan out;
    out.op = &op;
    return out;
  }

  std::optional<EdgePlan> plan_input(std::size_t g, const Op& op, std::size_t i, OpShapes& shapes) {
    const auto& input = op.inputs[i];
    const int number = static_cast<int>(i);
    EdgePlan edge;
    TileShape shape;
    TileDim dim;
    DataFormat format;
    if (auto queue = queues_.find(input.name); queue != queues_.end()) {
      const Queue& q = netlist_.queues[queue->second];
      edge.index = queue->second;
      shape = q.shape();
      dim = q.tile_dim;
      format = q.format;
    } else if (auto found = ops_.find(input.name); found != ops_.end()) {
      const Op& producer = netlist_.graphs[found->second.graph].ops[found->second.op];
      edge.from = found->second.graph == g ? EdgePlan::From::op : EdgePlan::From::other_graph;
      edge.index = found->second.op;
      if (edge.from == EdgePlan::From::other_graph) exported_.insert(producer.name);
      shape = producer.shape();
      dim = producer.tile_dim;
      format = producer.out_format;
    } else {
      error("GD004", op, Field::input, number, cat("its input '", input.name, "' is neither a queue nor an op"), "");
      return std::nullopt;
    }
    auto gather = Gather::make(shape, input.maps);
    if (auto* wrong = std::get_if<MapError>(&gather)) {
      const auto count = static_cast<int>(input.maps.tms.size());
      std::string which = wrong->index < 0 ? "its unpad"
                          : wrong->index == count
                              ? "its pad"
                              : cat("TM ", wrong->index + 1, " (", input.maps.tms[static_cast<std::size_t>(wrong->index)].text(), ")");
      error("GD003", op, Field::tms, number,
            cat("input ", i, " ('", input.name, "', ", shape.text(), "): ", which, " does not apply: ", wrong->reason), "");
      return std::nullopt;
    }
    edge.gather = std::move(std::get<Gather>(gather));
    const DataFormat wanted = input.format == DataFormat::invalid ? format : input.format;
    if (is_integer(wanted) != is_integer(format)) {
      error("GD002", op, Field::in_df, number,
            cat("input ", i, " ('", input.name, "') holds ", format_name(format), ", not ", format_name(wanted)),
            "make in_df the format of the producer");
      return std::nullopt;
    }
    if (wanted != format) edge.convert = wanted;
    shapes.inputs.push_back(edge.gather.shape());
    shapes.dims.push_back(input.maps.transposes() ? TileDim{dim.cols, dim.rows} : dim);
    return edge;
  }

  std::optional<WritePlan> plan_write(const Op& op, std::size_t q) {
    const Queue& queue = netlist_.queues[q];
    auto gather = Gather::make(op.shape(), netlist::EdgeMaps{std::nullopt, queue.input_tms, std::nullopt});
    if (auto* wrong = std::get_if<MapError>(&gather)) {
      queue_error("GD003", queue, Field::input_tms,
                  cat("the TMs on the edge from op '", op.name, "' (", op.shape().text(), ") do not apply: ", wrong->reason));
      return std::nullopt;
    }
    const TileShape arrives = std::get<Gather>(gather).shape();
    if (arrives != queue.shape() || op.tile_dim != queue.tile_dim) {
      queue_error("GD002", queue, Field::grid_size,
                  cat("it holds ", queue.shape().text(), " per entry, but op '", op.name, "' writes ", arrives.text()));
      return std::nullopt;
    }
    if (op.out_format != queue.format) {
      queue_error("GD002", queue, Field::df,
                  cat("it holds ", format_name(queue.format), ", but op '", op.name, "' writes ", format_name(op.out_format)));
      return std::nullopt;
    }
    return WritePlan{q, std::move(std::get<Gather>(gather))};
  }

  void error(const char* code, const Op& op, Field field, int index, const std::string& why, const std::string& hint) {
    Diagnostic d = input_error(code, place(op.places.of(field, index)), cat("op '", op.name, "': ", why));
    d.node = op.name;
    d.hint = hint;
    failure_.add(std::move(d));
  }
  void queue_error(const char* code, const Queue& queue, Field field, const std::string& why) {
    Diagnostic d = input_error(code, place(queue.places.of(field)), cat("queue '", queue.name, "': ", why));
    d.node = queue.name;
    failure_.add(std::move(d));
  }
  SourceLoc place(netlist::SourceLocation p) const { return p.line == 0 ? SourceLoc{netlist_.file} : netlist_.loc(p); }

  const Netlist& netlist_;
  std::int64_t most_numbers_;
  std::map<std::string, std::size_t> queues_;
  std::map<std::string, std::vector<std::size_t>> fed_by_;
  std::map<std::string, OpPlace> ops_;
  std::map<std::string, const netlist::FusedOp*> fused_;
  std::set<std::string> exported_;
  Failure failure_;
};

}  // namespace

Result<Plans> plan_graphs(const Netlist& netlist, std::int64_t most_numbers) { return Planner(netlist, most_numbers).run(); }

}  // namespace buda::arith
