// Plans an epoch: routes of all edges, sizes of all buffers, granularity of all producers.
#include <buda/pipes/plan/epoch_plan.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/over_pcie.hpp>
#include <buda/tiling/line_map.hpp>
#include <buda/tiling/tile_layout.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace buda::pipes {

using netlist::Field;
using netlist::Graph;
using netlist::Netlist;
using netlist::Op;
using netlist::OpClass;
using netlist::Queue;
using netlist::TmKind;
using tiling::LineMap;
using tiling::OpContext;
using tiling::operand_count;
using tiling::OrderError;
using tiling::RouteError;
using tiling::takes_rows;
using tiling::TileLayout;

GridCoord worker_of(const Op& op, std::int32_t row, std::int32_t col) {
  if (op.grid_transpose) std::swap(row, col);
  return {op.grid_loc.row + row, op.grid_loc.col + col};
}

std::int32_t stored_tile_bytes(const NetlistIndex& index, const Queue& queue, std::int32_t alignment) {
  const Op* writer = index.writer(queue);
  bool bare = queue.layout == netlist::QueueLayout::flat || (writer != nullptr && writer->untilize_output);
  return bare ? tile_datum_bytes(queue.format, queue.tile_dim) + tile_exponent_bytes(queue.format, queue.tile_dim)
              : tile_bytes(queue.format, queue.tile_dim, alignment);
}

const netlist::FusedOp* fused_op_of(const Netlist& netlist, const Op& op) {
  for (const auto& f : netlist.fused_ops)
    if (f.id == op.attributes.fused_op_id) return &f;
  return nullptr;
}

Diagnostic not_supported(const Netlist& netlist, const Op& op, std::string feature, int input, std::string hint) {
  netlist::Place place = input < 0 ? op.places.self : op.places.of(Field::inputs);
  std::string operand = input < 0 ? "" : cat(", input ", input);
  Diagnostic d = input_error("PP001", netlist.loc(place), cat("op '", op.name, "'", operand, ": ", feature, " is not supported yet"));
  d.node = op.name;
  d.hint = std::move(hint);
  d.data = {{"feature", std::move(feature)}};
  if (input >= 0) d.data.emplace_back("input", cat(input));
  return d;
}

// A fused op may multicast two inputs along the same axis; the second uses the other network.
Result<Multicast> multicast_of(const Netlist& netlist, const Op& op, std::size_t input, MulticastAxis axis) {
  bool second = false;
  if (const netlist::FusedOp* fused = op_class(op.type) == OpClass::fused ? fused_op_of(netlist, op) : nullptr) {
    int rows = 0, columns = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      tiling::FusedInput user = tiling::fused_input(*fused, i);
      if (user.sub == nullptr || user.sub->type != netlist::OpType::matmul) continue;
      int& count = user.operand == 0 ? rows : columns;
      if (i == input) second = count > 0;
      ++count;
    }
    int multicasts = (op.grid.cols > 1 ? rows : 0) + (op.grid.rows > 1 ? columns : 0);
    if (multicasts > 2) {
      Diagnostic d = input_error("PP008", netlist.loc(op.places.self),
                                 cat("op '", op.name, "': ", multicasts, " inputs of the fused op are multicast; at most two can be"));
      d.node = op.name;
      d.hint = "split the fused op, or give it a grid with one row or one column";
      return d;
    }
  }
  MulticastAxis noc1_axis = op.grid_transpose ? MulticastAxis::row : MulticastAxis::column;
  return Multicast{axis, (axis == noc1_axis) != second};
}

namespace {

// One DRAM read request is at most this long; it is also the largest block of a queue.
constexpr std::int64_t kMostReadBytes = 64 * 1024;

class Planner {
 public:
  Planner(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch, const device::Cluster& cluster) {
    plan_.index = &index;
    plan_.device = &device;
    plan_.cluster = &cluster;
    plan_.epoch = &epoch;
  }

  Result<EpochPlan> run() {
    BUDA_TRY(list_ops());
    Failure failure;
    for (std::size_t o = 0; o < plan_.ops.size(); ++o)
      for (std::size_t i = 0; i < plan_.ops[o].inputs.size(); ++i) keep(plan_input(o, i), failure);
    for (const QueuePlan& q : plan_.queues) keep(check_users(plan_, q), failure);
    if (!failure.empty()) return failure;
    agree_on_prologues();
    for (QueuePlan& q : plan_.queues)
      if (q.writer != kNone) keep(plan_output_queue(q), failure);
    if (!failure.empty()) return failure;
    settle_granularities();
    return std::move(plan_);
  }

 private:
  static void keep(Result<void> result, Failure& failure) {
    if (!result) failure.add(std::move(result).failure());
  }
  const Netlist& netlist() const { return plan_.netlist(); }

  Result<void> list_ops();
  Result<void> check_op(const OpPlan& op) const;
  std::size_t use_queue(std::size_t queue);
  Result<void> plan_input(std::size_t op, std::size_t input);
  Result<void> plan_rows(OpPlan& op, std::size_t input);
  Result<void> find_source(const OpPlan& op, std::size_t input, Source& source);
  std::int32_t source_chip(const Source& source, std::int32_t chip) const;
  Result<void> check_source(const OpPlan& op, std::size_t input, const Source& source) const;
  void choose_prologue(const Op& op, std::size_t input, InputPlan& plan);
  void agree_on_prologues();
  Result<void> plan_output_queue(QueuePlan& queue);
  void settle_granularities();
  void settle_op(std::size_t o, std::vector<const EdgeRoutes*> consumers);
  void settle_queue(QueuePlan& queue, const std::vector<std::pair<const InputPlan*, std::size_t>>& consumers);

  Diagnostic edge_error(const OpPlan& op, std::size_t input, const RouteError& error) const;
  Diagnostic order_error(const OpPlan& op, std::size_t input, const OrderError& error) const;
  OpContext context_of(const OpPlan& p) const {
    return {*p.op, fused_op_of(netlist(), *p.op), p.graph->input_count, plan_.device->tile_alignment};
  }

  EpochPlan plan_;
};

Result<void> Planner::check_op(const OpPlan& p) const {
  const Op& op = *p.op;
  GridShape workers = plan_.device->grid();
  GridRect place = op.occupied();
  if (op_class(op.type) != OpClass::ethernet &&
      (place.origin.row < 0 || place.origin.col < 0 || place.origin.row + place.shape.rows > workers.rows ||
       place.origin.col + place.shape.cols > workers.cols)) {
    return does_not_fit("PP009", op.name, "workers", static_cast<std::uint64_t>(place.origin.row + place.shape.rows),
                        static_cast<std::uint64_t>(workers.rows),
                        cat("op '", op.name, "' stands on rows ", place.origin.row, " to ", place.origin.row + place.shape.rows - 1,
                            ", columns ", place.origin.col, " to ", place.origin.col + place.shape.cols - 1, "; '", plan_.device->name,
                            "' has ", workers.rows, " rows and ", workers.cols, " columns of workers"),
                        "choose another grid_loc or grid_size, or a larger device");
  }
  if (op.buf_size_mb > 1 && op.buf_size_mb % 2 != 0) {
    Diagnostic d = input_error("PP010", netlist().loc(op.places.of(Field::buf_size_mb)),
                               cat("op '", op.name, "': buf_size_mb ", op.buf_size_mb, " is odd; above 1 it is split into two halves"));
    d.node = op.name;
    return d;
  }
  if (op.inputs.size() < operand_count(op)) {
    Diagnostic d =
        input_error("PP011", netlist().loc(op.places.of(Field::inputs)),
                    cat("op '", op.name, "' has ", op.inputs.size(), " inputs; its type and attributes need ", operand_count(op)));
    d.node = op.name;
    return d;
  }
  return success();
}

Result<void> Planner::list_ops() {
  Failure failure;
  for (const Graph* graph : plan_.epoch->graphs) {
    for (const Op& op : graph->ops) {
      OpPlan p;
      p.op = &op;
      p.graph = graph;
      p.chip = EpochPlan::is_ethernet(p) ? op.attributes.dest_device : graph->target_device;
      p.inputs.resize(std::min(op.inputs.size(), operand_count(op)));
      keep(check_op(p), failure);
      plan_.op_index.emplace(op.name, plan_.ops.size());
      plan_.ops.push_back(std::move(p));
    }
  }
  for (std::size_t o = 0; o < plan_.ops.size(); ++o) {
    for (std::size_t i = 0; i < plan_.ops[o].inputs.size(); ++i) keep(find_source(plan_.ops[o], i, plan_.ops[o].inputs[i].source), failure);
    for (std::size_t q : plan_.index->queues_written_by(plan_.ops[o].op->name)) {
      plan_.ops[o].output_queues.push_back(q);
      plan_.queues[use_queue(q)].writer = o;
    }
  }
  if (!failure.empty()) return failure;
  for (std::size_t o = 0; o < plan_.ops.size(); ++o)
    for (InputPlan& input : plan_.ops[o].inputs)
      if (input.source.is_queue()) {
        auto& readers = plan_.queues[use_queue(input.source.queue)].readers;
        if (readers.empty() || readers.back() != o) readers.push_back(o);
      }
  return success();
}

std::size_t Planner::use_queue(std::size_t queue) {
  auto [it, fresh] = plan_.queue_index.emplace(queue, plan_.queues.size());
  if (fresh) {
    QueuePlan q;
    q.queue = queue;
    q.use = plan_.epoch->use_of(netlist().queues[queue].name);
    plan_.queues.push_back(std::move(q));
  }
  return it->second;
}

Result<void> Planner::find_source(const OpPlan& op, std::size_t input, Source& source) {
  const std::string& name = op.op->inputs[input].name;
  source.queue = plan_.index->queue(name);
  if (source.is_queue()) return success();
  auto it = plan_.op_index.find(name);
  if (it != plan_.op_index.end()) {
    source.op = it->second;
    return success();
  }
  auto other = plan_.index->op(name);
  std::string why = other.op == nullptr ? cat("there is no queue or op '", name, "'")
                                        : cat("op '", name, "' is in graph '", other.graph->name, "', which runs in another epoch");
  Diagnostic d =
      input_error("PP012", netlist().loc(op.op->places.of(Field::inputs)), cat("op '", op.op->name, "', input ", input, ": ", why));
  d.node = op.op->name;
  if (other.op != nullptr) d.hint = "ops of different epochs exchange data through queues";
  return d;
}

// The numbers that an embedding looks up are words, whichever layout their queue names.
bool is_index_list(const Op& op, std::size_t input) { return op_class(op.type) == OpClass::embedding && input == 1; }

// Where an input comes from. Chips without ethernet see the host's memory themselves.
std::int32_t Planner::source_chip(const Source& source, std::int32_t chip) const {
  if (!source.is_queue()) return plan_.ops[source.op].chip;
  return plan_.device->eth.empty() ? chip : netlist().queues[source.queue].target_device;
}

Result<void> Planner::check_source(const OpPlan& p, std::size_t input, const Source& source) const {
  const Op& op = *p.op;
  int number = static_cast<int>(input);
  std::int32_t chip = p.chip;
  DataFormat format{};
  if (source.is_queue()) {
    const Queue& q = netlist().queues[source.queue];
    format = q.format;
    const bool is_remote = source_chip(source, chip) != chip;
    BUDA_TRY(check_ring(plan_, op, q, chip));
    if ((is_remote || EpochPlan::is_ethernet(p)) && plan_.epoch->use_of(q.name).prologue)
      return not_supported(netlist(), op,
                           cat("reading queue '", q.name, "' of chip ", q.target_device, " on chip ", chip, " as a prologue"), number,
                           "read it while the epoch runs, with prologue: false, or keep it on the chip where it is used");
    const bool is_flat = q.layout == netlist::QueueLayout::flat;
    if (takes_rows(op, input) && is_remote && op_class(op.type) == OpClass::embedding)
      return not_supported(netlist(), op, "a table on another chip than the core that knows which of its rows are wanted", number,
                           "keep the table on the op's chip; the numbers may come from another");
    if (takes_rows(op, input) != is_flat && !is_index_list(op, input)) {
      Diagnostic d = input_error("PP014", netlist().loc(op.places.of(Field::inputs)),
                                 cat("op '", op.name, "', input ", input, ": queue '", q.name, "' holds ",
                                     is_flat ? "rows of datums" : "tiles", ", and the op takes ", is_flat ? "tiles" : "rows"));
      d.node = op.name;
      d.hint = is_flat ? "make tiles of the rows with a tilizer" : "give the queue the layout flat";
      return d;
    }
    QueueUse use = plan_.epoch->use_of(q.name);
    if (use.epilogue) {
      Diagnostic d = input_error("PP013", netlist().loc(q.places.self),
                                 cat("queue '", q.name, "' is read by op '", op.name, "' and must not be an epilogue"));
      d.node = q.name;
      return d;
    }
  } else {
    const OpPlan& producer = plan_.ops[source.op];
    format = producer.op->out_format;
    if (takes_rows(op, input)) {
      Diagnostic d = input_error("PP014", netlist().loc(op.places.of(Field::inputs)),
                                 cat("op '", op.name, "', input ", input, ": rows come from a queue in flat layout, not from an op"));
      d.node = op.name;
      return d;
    }
    BUDA_TRY(check_ring(plan_, op, cat("op '", producer.op->name, "'"), producer.chip, chip));
    if (const Op& made = *producer.op; op_class(made.type) == OpClass::drainer || made.untilize_output || made.gradient_op) {
      std::string why = op_class(made.type) == OpClass::drainer ? cat("op '", made.name, "' is a drainer, which gives nothing")
                                                                : cat("the ", made.gradient_op ? "gradient" : "untilized",
                                                                      " output of op '", made.name, "' can only go to a queue");
      Diagnostic d = input_error("PP014", netlist().loc(op.places.of(Field::inputs)), cat("op '", op.name, "', input ", input, ": ", why));
      d.node = op.name;
      return d;
    }
  }
  if (format != op.inputs[input].format) {
    Diagnostic d = input_error("PP015", netlist().loc(op.places.of(Field::in_df)),
                               cat("op '", op.name, "', input ", input, ": in_df is ", format_name(op.inputs[input].format), ", and '",
                                   op.inputs[input].name, "' holds ", format_name(format)));
    d.node = op.name;
    return d;
  }
  return success();
}

Diagnostic Planner::edge_error(const OpPlan& p, std::size_t input, const RouteError& error) const {
  const Op& op = *p.op;
  SourceLoc loc = netlist().loc(op.places.of(Field::tms, static_cast<int>(input)));
  std::string message = cat("op '", op.name, "', input ", input, " from '", op.inputs[input].name, "': ", error.reason);
  Diagnostic d = input_error("PP020", std::move(loc), std::move(message));
  if (error.too_large) d.fault = Fault::fit;
  d.node = op.name;
  d.data = {{"producer", op.inputs[input].name}, {"input", cat(input)}};
  return d;
}

Diagnostic Planner::order_error(const OpPlan& p, std::size_t input, const OrderError& error) const {
  const Op& op = *p.op;
  if (error.kind == OrderError::Kind::unsupported) return not_supported(netlist(), op, error.reason, static_cast<int>(input));
  const bool unread = error.kind == OrderError::Kind::unread;
  Diagnostic d =
      input_error(unread ? "PP002" : "PP003", netlist().loc(op.places.of(unread ? Field::inputs : Field::attributes)),
                  unread ? cat("op '", op.name, "': ", error.reason) : cat("op '", op.name, "', input ", input, ": ", error.reason));
  d.node = op.name;
  if (!unread) d.hint = "attributes m_k and u_kt give the inner dimension in blocks and tiles; both must be at least 1";
  return d;
}

Result<void> Planner::plan_input(std::size_t o, std::size_t i) {
  OpPlan& p = plan_.ops[o];
  const Op& op = *p.op;
  InputPlan& input = p.inputs[i];
  BUDA_TRY(check_source(p, i, input.source));
  input.from_chip = source_chip(input.source, p.chip);
  if (takes_rows(op, i)) return plan_rows(p, i);

  TileLayout layout;
  TileDim dim;
  if (input.source.is_queue()) {
    const Queue& q = netlist().queues[input.source.queue];
    layout = tiling::layout_of(q);
    dim = q.tile_dim;
    input.prologue = plan_.queue_plan(input.source.queue).use.prologue;
  } else {
    const Op& producer = *plan_.ops[input.source.op].op;
    layout = tiling::layout_of(producer, p.graph->input_count);
    dim = producer.tile_dim;
  }
  const auto& maps = op.inputs[i].maps;
  auto made = LineMap::make(layout.shape(), maps);
  if (const auto* error = std::get_if<netlist::MapError>(&made)) {
    auto count = static_cast<int>(maps.tms.size());
    std::string which = error->index < 0 ? "unpad"
                        : error->index >= count
                            ? "pad"
                            : cat("manipulation ", error->index, " (", maps.tms[static_cast<std::size_t>(error->index)].text(), ")");
    return edge_error(p, i, {cat(which, ": ", error->reason)});
  }
  const LineMap& map = std::get<LineMap>(made);
  const OpContext context = context_of(p);
  auto order = tiling::tile_order_of(op, context.fused, i, map.shape());
  if (const auto* error = std::get_if<OrderError>(&order)) return order_error(p, i, *error);
  input.order = std::get<TileOrder>(order);
  BUDA_TRY(multicast_of(netlist(), op, i, input.order.axis));
  auto routed = tiling::route_edge(layout, map, input.order);
  if (const auto* error = std::get_if<RouteError>(&routed)) return edge_error(p, i, *error);
  input.routes = std::get<EdgeRoutes>(std::move(routed));
  for (const auto& tm : maps.tms)
    if (tm.kind == TmKind::pad) input.pad_value = tm.pad_value;
  if (maps.pad) input.pad_value = maps.pad->value;
  input.sizes = tiling::input_buffer(context, i, input.order, dim, layout.block.tiles());
  if (is_index_list(op, i) && input.source.is_queue())
    input.sizes.tile_bytes = stored_tile_bytes(*plan_.index, netlist().queues[input.source.queue], plan_.device->tile_alignment);
  choose_prologue(op, i, input);
  return success();
}

Result<void> Planner::plan_rows(OpPlan& p, std::size_t i) {
  const Op& op = *p.op;
  InputPlan& input = p.inputs[i];
  QueuePlan& source = plan_.queue_plan(input.source.queue);
  const Queue& q = netlist().queues[input.source.queue];
  const TileLayout layout = tiling::layout_of(q);
  auto cut = tiling::cut_rows(layout, q.tile_dim, op);
  if (const auto* reason = std::get_if<std::string>(&cut)) return edge_error(p, i, {*reason});
  input.rows = std::get<RowCut>(cut);
  if (source.rows && !(*source.rows == *input.rows)) return edge_error(p, i, {"another op takes the rows of this queue in another way"});
  source.rows = input.rows;
  input.order.grid = op.grid;
  input.routes = tiling::route_rows(*input.rows, layout, op.grid);
  input.sizes = tiling::input_buffer(context_of(p), i, *input.rows, q.tile_dim);
  return success();
}

// A prologue is read in final order where it fits the kernel's buffer. Right operands that are too large for that, and come as they are,
// are read once per column and gathered from the column's cores.
void Planner::choose_prologue(const Op& op, std::size_t i, InputPlan& input) {
  if (!input.prologue) return;
  OpClass kind = op_class(op.type);
  bool product = kind == OpClass::matmul || kind == OpClass::depthwise;
  bool keeps_order = kind == OpClass::reduce || kind == OpClass::splice || kind == OpClass::topk || (op.attributes.identity && i == 1) ||
                     (kind == OpClass::fused && input.order.axis != MulticastAxis::core);
  if (keeps_order) return;
  if (kind == OpClass::fused) {
    tiling::FusedInput user = tiling::fused_input(*fused_op_of(netlist(), op), i);
    if (user.sub->type == netlist::OpType::reduce) return;
  }
  std::int64_t most = 0;
  for (const auto& pipe : input.routes.pipes) most = std::max(most, pipe.tiles.tiles());
  input.post_tm = most <= input.sizes.size;
  if (input.post_tm || !product || op.attributes.identity || i != 1 || !op.inputs[i].maps.tms.empty() || op.inputs[i].maps.pad) return;
  input.post_tm = true;
  input.chunks = op.grid.rows;
  while (most % input.chunks != 0) --input.chunks;
  input.chunk_tiles = most / input.chunks;
}

// Shares of a column, each read by the core that keeps it.
EdgeRoutes into_shares(const EdgeRoutes& routes, std::int64_t chunks, std::int64_t chunk_tiles) {
  EdgeRoutes out = routes;
  out.pipes.clear();
  out.axis = MulticastAxis::core;
  auto columns = static_cast<std::int32_t>(routes.pipes.size());
  for (const PipeRoute& pipe : routes.pipes) {
    std::int64_t at = 0;
    RunList share;
    auto flush = [&] {
      auto chunk = static_cast<std::int32_t>((at - 1) / chunk_tiles);
      out.pipes.push_back({std::move(share), {chunk * columns + pipe.destinations.front()}});
      share = {};
    };
    for (Run run : pipe.tiles.runs()) {
      while (run.count > 0) {
        std::int64_t take = std::min(run.count, chunk_tiles - share.tiles());
        share.add({run.core, run.first, take});
        at += take;
        run.first += take;
        run.count -= take;
        if (share.tiles() == chunk_tiles) flush();
      }
    }
  }
  for (const PipeRoute& pipe : out.pipes)
    for (const Run& run : pipe.tiles.runs()) out.granularity = std::gcd(std::gcd(out.granularity, run.count), run.first);
  out.granularity = std::gcd(out.granularity, chunks > 0 ? chunk_tiles : out.granularity);
  out.scattered = true;
  return out;
}

// All inputs of an op that read the same prologue queue share its copies of the buffers, so they read in the same way.
void Planner::agree_on_prologues() {
  for (OpPlan& p : plan_.ops) {
    for (InputPlan& input : p.inputs) {
      if (!input.prologue) continue;
      bool all = std::all_of(p.inputs.begin(), p.inputs.end(),
                             [&](const InputPlan& other) { return other.source.queue != input.source.queue || other.post_tm; });
      if (all) continue;
      for (InputPlan& other : p.inputs)
        if (other.source.queue == input.source.queue) {
          other.post_tm = false;
          other.chunks = 0;
        }
    }
    for (InputPlan& input : p.inputs) {
      if (input.chunks > 0) {
        input.routes = into_shares(input.routes, input.chunks, input.chunk_tiles);
      } else if (input.prologue && input.post_tm) {
        tiling::split_multicasts(input.routes, p.op->grid);
      }
    }
  }
}

Result<void> Planner::plan_output_queue(QueuePlan& plan) {
  const Queue& q = netlist().queues[plan.queue];
  const OpPlan& p = plan_.ops[plan.writer];
  const Op& op = *p.op;
  auto error = [&](const char* code, std::string message) {
    Diagnostic d = input_error(code, netlist().loc(q.places.self), cat("queue '", q.name, "', written by op '", op.name, "': ", message));
    d.node = q.name;
    d.data = {{"producer", op.name}};
    return d;
  };
  const std::int32_t chip = p.chip;
  if (q.target_device != chip) {
    const bool by_ethernet = !plan_.device->eth.empty();
    if ((by_ethernet && op.untilize_output) || op.gradient_op)
      return not_supported(netlist(), op,
                           cat("writing queue '", q.name, "' of chip ", q.target_device, " from chip ", chip,
                               op.gradient_op ? " as a gradient" : " without tiles"),
                           -1, cat("keep the queue on chip ", chip, op.gradient_op ? "" : ", or write tiles, with untilize_output: false"));
    BUDA_TRY(check_ring(plan_, op, q, chip));
  }
  if (q.format != op.out_format)
    return error("PP015", cat("it holds ", format_name(q.format), ", and the op's out_df is ", format_name(op.out_format)));
  if (op_class(op.type) == OpClass::drainer) return error("PP016", "a drainer gives nothing that could be written");
  if (op.gradient_op) {
    if (!plan.use.prologue || !plan.use.epilogue) return error("PP016", "the ram of a gradient op needs prologue: true and epilogue: true");
    if (q.kind != netlist::QueueKind::ram) return error("PP016", "a gradient op accumulates in a queue of type ram");
    if (q.grid != op.grid || !(q.block == op.block))
      return error("PP016", "its blocks differ from those of the gradient op; they must be equal");
    if (p.output_queues.size() != 1) return error("PP016", "a gradient op has exactly one output queue");
    return success();
  }
  if (plan.use.prologue || plan.use.epilogue) return error("PP016", "what an op writes while it runs is neither prologue nor epilogue");
  const TileLayout layout = tiling::layout_of(op, p.graph->input_count);
  if (op.untilize_output) {
    if (q.shape() != layout.shape())
      return error("PP017", cat("it holds ", q.shape().text(), ", and the untilized output is ", layout.shape().text()));
    if (!q.input_tms.empty()) return error("PP017", "an untilized output cannot be manipulated");
    return success();
  }
  auto made = LineMap::make(layout.shape(), {std::nullopt, q.input_tms, std::nullopt});
  if (const auto* map_error = std::get_if<netlist::MapError>(&made))
    return error("PP020", cat("manipulation ", map_error->index, ": ", map_error->reason));
  auto routed = tiling::route_edge(layout, std::get<LineMap>(made), tiling::tile_order_of(q));
  if (const auto* route_error = std::get_if<RouteError>(&routed)) return error("PP020", route_error->reason);
  plan.from_writer = std::get<EdgeRoutes>(std::move(routed));
  for (const PipeRoute& pipe : plan.from_writer.pipes) {
    if (pipe.destinations.size() > 1) return error("PP018", "its buffers take turns; each must be filled by one pipe");
    const auto& runs = pipe.tiles.runs();
    for (const Run& run : runs)
      if (run.core != runs.front().core)
        return error("PP018", cat("buffer ", pipe.destinations.front(),
                                  " would be filled by several cores of the op; one core must fill each buffer"));
  }
  return success();
}

void Planner::settle_op(std::size_t o, std::vector<const EdgeRoutes*> consumers) {
  OpPlan& p = plan_.ops[o];
  const Op& op = *p.op;
  std::int64_t full = op.block.mblock_tiles() * op.single_buffer_mblocks();
  p.granularity = full;
  for (const EdgeRoutes* routes : consumers) {
    p.scattered = p.scattered || routes->scattered || routes->granularity != full;
    p.granularity = std::gcd(p.granularity, routes->granularity);
  }
  const OpContext context = context_of(p);
  p.output = tiling::output_buffer(context, p.scattered, p.granularity);
  p.granularity = p.output.block;
  p.intermediates = tiling::intermediate_buffers(context, p.output);
  // What comes over the link is handed out from where it lies.
  if (EpochPlan::is_ethernet(p) && !p.inputs.empty()) p.inputs.front().sizes.size = p.output.total_tiles();
}

// Blocks of a queue that is read: no larger than the buffers they go to, nor than one read.
void Planner::settle_queue(QueuePlan& plan, const std::vector<std::pair<const InputPlan*, std::size_t>>& consumers) {
  const Queue& q = netlist().queues[plan.queue];
  plan.granularity = q.block.tiles();
  if (consumers.empty()) return;
  plan.scattered = true;
  if (plan.rows) {
    plan.granularity = plan.rows->block_rows;
    return;
  }
  for (const auto& [input, op] : consumers) {
    plan.granularity = std::gcd(plan.granularity, input->routes.granularity);
    if (input->chunks > 0) {
      plan.granularity = std::gcd(plan.granularity, input->chunk_tiles);
    } else if (input->sizes.size < plan.granularity) {
      plan.granularity = std::gcd(plan.granularity, input->sizes.size);
    }
  }
  std::int64_t most =
      std::max<std::int64_t>(1, kMostReadBytes / std::max(1, stored_tile_bytes(*plan_.index, q, plan_.device->tile_alignment)));
  if (plan.granularity > most) {
    while (plan.granularity % most != 0) --most;
    plan.granularity = most;
  }
}

void Planner::settle_granularities() {
  std::vector<std::vector<const EdgeRoutes*>> of_op(plan_.ops.size());
  std::vector<std::vector<std::pair<const InputPlan*, std::size_t>>> of_queue(plan_.queues.size());
  for (std::size_t o = 0; o < plan_.ops.size(); ++o)
    for (const InputPlan& input : plan_.ops[o].inputs) {
      if (input.source.is_queue()) {
        of_queue[plan_.queue_index.at(input.source.queue)].emplace_back(&input, o);
      } else {
        of_op[input.source.op].push_back(&input.routes);
      }
    }
  for (std::size_t i = 0; i < plan_.queues.size(); ++i) {
    QueuePlan& q = plan_.queues[i];
    settle_queue(q, of_queue[i]);
    if (q.writer == kNone) continue;
    const Op& op = *plan_.ops[q.writer].op;
    if (!op.untilize_output && !op.gradient_op) of_op[q.writer].push_back(&q.from_writer);
  }
  for (std::size_t o = 0; o < plan_.ops.size(); ++o) settle_op(o, std::move(of_op[o]));
}

}  // namespace

Result<EpochPlan> plan_epoch(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                             const device::Cluster& cluster) {
  return Planner(index, device, epoch, cluster).run();
}

}  // namespace buda::pipes
