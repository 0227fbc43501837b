// SPDX-License-Identifier: Apache-2.0
// Routes of edges as messages, and messages as hops.
#include "link_loads.hpp"

#include <buda/balance/cost/flow.hpp>
#include <buda/balance/policy/neighbours.hpp>
#include <buda/balance/queues/queues.hpp>
#include <buda/balance/resources/edge.hpp>
#include <buda/balance/resources/resources.hpp>
#include <buda/cost/transfer_model.hpp>
#include <buda/overlay/traffic.hpp>
#include <buda/pipes/noc/noc.hpp>
#include <buda/pipes/noc/routes.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace buda::balance {
namespace {

// Loads are those of the nearer networks, while transfers over busy links take the other one (pipes::balance_networks()).
double relieved_rate(const device::DeviceDescriptor& device) {
  const cost::TransferModel transfers(device);
  return transfers.ideal_link_rate() * transfers.parameters().network_relief;
}

using device::NocCoord;
using netlist::MulticastAxis;

GridCoord worker_of(const Place& place, GridCoord core) {
  return place.transposed ? GridCoord{place.at.row + core.col, place.at.col + core.row}
                          : GridCoord{place.at.row + core.row, place.at.col + core.col};
}

// The core that takes the tiles of a destination; it passes them on along its row or column.
GridCoord taking_core(GridShape grid, MulticastAxis axis, std::int32_t destination) {
  if (axis == MulticastAxis::row) return {destination, 0};
  if (axis == MulticastAxis::column) return {grid.rows - 1, destination};
  return {destination / grid.cols, destination % grid.cols};
}

// For each destination, by producer core, its share of the destination's tiles.
std::vector<std::map<std::int32_t, double>> shares_of(const tiling::EdgeRoutes& routes, std::int64_t destinations) {
  std::vector<std::map<std::int32_t, double>> out(static_cast<std::size_t>(destinations));
  for (const tiling::PipeRoute& pipe : routes.pipes) {
    std::map<std::int32_t, double> tiles;
    for (const tiling::Run& run : pipe.tiles.runs())
      if (run.core != tiling::kPaddingCore) tiles[run.core] += static_cast<double>(run.count);
    const double turn = 1 / static_cast<double>(pipe.destinations.size());
    for (std::int32_t destination : pipe.destinations)
      for (const auto& [core, count] : tiles) out[static_cast<std::size_t>(destination)][core] += turn * count;
  }
  for (auto& shares : out) {
    double sum = 0;
    for (const auto& [core, share] : shares) sum += share;
    for (auto& [core, share] : shares) share /= sum;
  }
  return out;
}

// Bytes of an operand that each of its destinations takes.
double taken_bytes(const Placement& placement, const netlist::Op& blocked, const OpModel& model, std::size_t input) {
  const std::int64_t kept = blocked.inputs[input].kernel_broadcast.tiles;
  const double bytes = static_cast<double>(kept > 0 ? kept : input_order(blocked, input).tiles()) *
                       tile_bytes(blocked.inputs[input].format, input_tile_dim(blocked, input), placement.space().device().tile_alignment);
  return model.is_resident(input) ? bytes / static_cast<double>(std::max(placement.space().problem->microbatch, 1)) : bytes;
}

// An input of the model is one buffer, where the host reaches it directly, or so large that it is divided among the channels; small ones
// are blocked as their reader takes them.
std::int32_t channel_of(const Placement& placement, const Operand& operand, double bytes_read) {
  const bool is_one = operand.from.source.valid() && !operand.constant && operand.shape.volume() > kSmallInputTiles &&
                      bytes_read * std::max(placement.space().problem->microbatch, 1) < static_cast<double>(kDividedFrom);
  const auto& window = placement.space().device().dram.host_window;
  return is_one && window ? window->channel : Intake::kAllChannels;
}

void add_multicast(const OpModel& model, MulticastAxis axis, double bytes, Intake& out) {
  if (axis == MulticastAxis::row && model.grid.cols > 1)
    for (std::int32_t r = 0; r < model.grid.rows; ++r) out.multicasts.push_back({{r, 0}, {r, model.grid.cols - 1}, bytes, 0});
  if (axis == MulticastAxis::column && model.grid.rows > 1)
    for (std::int32_t c = 0; c < model.grid.cols; ++c) out.multicasts.push_back({{model.grid.rows - 1, c}, {0, c}, bytes, 1});
}

// Columns are brought and passed on by network 1, and so is every second operand of which each core takes its own tiles.
std::int32_t own_noc(MulticastAxis axis, std::size_t input) {
  return axis == MulticastAxis::column || (axis == MulticastAxis::core && input % 2 == 1) ? 1 : 0;
}

void add_queued(MulticastAxis axis, std::int32_t channel, double bytes, Intake& out) {
  auto same =
      std::find_if(out.queued.begin(), out.queued.end(), [&](const Intake::Queued& q) { return q.axis == axis && q.channel == channel; });
  if (same == out.queued.end()) same = out.queued.insert(out.queued.end(), {axis, channel, 0});
  same->bytes += bytes;
}

// Of an operand from an op of the same epoch.
std::optional<Intake::Route> route_from(const Placement& placement, OpId op, const OpModel& model, std::size_t input,
                                        const OpModel& producer) {
  const OpId from = placement.space().op(op).operands[input].from.op;
  const netlist::Op blocked = with_model(placement.space().op(op), model);
  const double bytes = taken_bytes(placement, blocked, model, input);
  const auto maps = edge_maps(*placement.space().problem, op, model, input, &producer);
  if (!std::holds_alternative<netlist::EdgeMaps>(maps)) return std::nullopt;
  const auto layout = tiling::layout_of(with_model(placement.space().op(from), producer), placement.space().problem->microbatch);
  const auto routes = edge_routes(layout, std::get<netlist::EdgeMaps>(maps), blocked, input);
  if (!std::holds_alternative<tiling::EdgeRoutes>(routes)) return std::nullopt;
  const tiling::TileOrder order = input_order(blocked, input);
  const auto shares = shares_of(std::get<tiling::EdgeRoutes>(routes), order.destinations());
  Intake::Route out{{}, order.cores_per_destination() > 1 ? Intake::kNearerNoc : own_noc(order.axis, input), {}};
  out.input =
      pipeline_input(blocked, input, cost_of_routes(std::get<tiling::EdgeRoutes>(routes), layout).flow, 0, placement.space().device());
  for (std::size_t d = 0; d < shares.size(); ++d)
    for (const auto& [core, share] : shares[d])
      out.messages.push_back({core, taking_core(model.grid, order.axis, static_cast<std::int32_t>(d)), share * bytes});
  return out;
}

}  // namespace

double queue_bytes(const Placement& placement, const netlist::Op& blocked, const OpModel& model, std::size_t input) {
  // What is kept is loaded by each core for itself.
  const std::int64_t readers = model.is_resident(input) ? model.cores() : input_order(blocked, input).destinations();
  return taken_bytes(placement, blocked, model, input) * static_cast<double>(readers);
}

std::int64_t queue_buffers(const Placement& placement, OpId op, const OpModel& model, std::size_t input, const OpModel* producer) {
  return producer != nullptr ? producer->cores() : source_layout(*placement.space().problem, op, model, input).grid.volume();
}

double channel_cycles(double bytes, const device::DeviceDescriptor& device) {
  // Queues are given out from the low end, so that they lie in one half of a large channel.
  const double halves = device.dram.bank_bytes > overlay::kDramHalf ? 2 : 1;
  return halves * bytes * static_cast<double>(std::max<std::size_t>(device.dram.channels.size(), 1)) /
         cost::TransferModel(device).dram_rate();
}

EdgeKey key_of(const Placement& placement, OpId op, const OpModel& model, std::size_t input, const OpModel& producer) {
  return {placement.space().kind_of(op),
          input,
          placement.space().kind_of(placement.space().op(op).operands[input].from.op),
          true,
          shape_of(model),
          shape_of(producer)};
}

const std::optional<Intake::Route>& IntakeBook::route(OpId op, const OpModel& model, std::size_t input, const OpModel& producer) {
  const auto [known, fresh] = routes_.try_emplace(key_of(placement_, op, model, input, producer));
  if (fresh) known->second = route_from(placement_, op, model, input, producer);
  return known->second;
}

double PairLinks::cycles(OpId op, const OpModel& model, std::size_t input, const OpModel& producer) {
  const auto [known, fresh] = cycles_.try_emplace(key_of(placement_, op, model, input, producer));
  if (!fresh) return known->second;
  if (const auto& route = intakes_.route(op, model, input, producer)) {
    const Intake::Edge edge{placement_.space().op(op).operands[input].from.op, &*route};
    known->second = std::max(least_cycles(edge, model, producer),
                             cost_ == PairCost::buffers ? interval(edge, op, model, producer) : route->input.transfer);
  }
  return known->second;
}

double PairLinks::interval(const Intake::Edge& edge, OpId op, const OpModel& model, const OpModel& producer) const {
  cost::PipelineOp ops[] = {pipeline_op(with_model(placement_.space().op(edge.producer), producer), producer.kernel_cycles, 0),
                            pipeline_op(with_model(placement_.space().op(op), model), model.kernel_cycles, 0)};
  ops[1].inputs.push_back(edge.route->input);
  ops[1].inputs.back().from = 0;
  return cost::pipeline_times(ops).interval;
}

double PairLinks::least_cycles(const Intake::Edge& edge, const OpModel& model, const OpModel& producer) const {
  const GridShape chip = placement_.placer().chip(), grid = model.grid, other = producer.grid;
  // The op to the right of its producer, to the left, below and above.
  const std::pair<GridCoord, GridCoord> sides[] = {
      {{0, other.cols}, {0, 0}}, {{0, 0}, {0, grid.cols}}, {{other.rows, 0}, {0, 0}}, {{0, 0}, {grid.rows, 0}}};
  Intake intake;
  intake.edges.push_back(edge);
  std::optional<double> least;
  for (const auto& [own, others] : sides) {
    if (!chip.contains({own.row + grid.rows - 1, own.col + grid.cols - 1})) continue;
    if (!chip.contains({others.row + other.rows - 1, others.col + other.cols - 1})) continue;
    const PlacedOp standing{producer, 0, {others, false}};
    std::vector<double> bytes(links_.count(), 0);
    links_.add(
        intake, model, {own, false}, [&](OpId) -> const PlacedOp& { return standing; }, 1, bytes);
    const double most = *std::max_element(bytes.begin(), bytes.end()) / links_.rate();
    least = std::min(least.value_or(most), most);
  }
  return least.value_or(0);
}

Intake IntakeBook::intake(OpId op, const OpModel& model, std::size_t end) {
  const Placement& placement = placement_;
  Intake out;
  const OpSpec& spec = placement.space().op(op);
  const netlist::Op blocked = with_model(spec, model);
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const tiling::TileOrder order = input_order(blocked, i);
    const double bytes = taken_bytes(placement, blocked, model, i);
    if (model.is_resident(i)) {
      add_queued(MulticastAxis::core, Intake::kAllChannels, bytes, out);
      continue;
    }
    add_multicast(model, order.axis, bytes, out);
    const OpId from = spec.operands[i].from.op;
    if (!from.valid() || placement.placed(from).epoch != placement.epoch() || spec.operands[i].queued) {
      add_queued(order.axis, channel_of(placement, spec.operands[i], bytes * static_cast<double>(order.destinations())), bytes, out);
    } else if (const auto& from_op = route(op, model, i, placement.placed(from).model)) {
      out.edges.push_back({from, &*from_op});
    }
  }
  const auto is_later = [end](const OpUse& use) { return use.op.index() >= end; };
  if (spec.outputs > 0 || std::any_of(spec.users.begin(), spec.users.end(), is_later))
    add_queued(MulticastAxis::core, Intake::kWritten,
               static_cast<double>(blocked.block.tiles()) *
                   tile_bytes(blocked.out_format, blocked.tile_dim, placement.space().device().tile_alignment),
               out);
  return out;
}

ChipLinks::ChipLinks(const device::DeviceDescriptor& device) : device_(device), size_(device.noc), rate_(relieved_rate(device)) {
  const auto columns = static_cast<std::size_t>(size_.x);
  const auto node = [&](std::size_t n) { return NocCoord{static_cast<std::int32_t>(n % columns), static_cast<std::int32_t>(n / columns)}; };
  for (std::size_t from = 0; from < nodes(); ++from)
    for (std::size_t to = 0; to < nodes(); ++to)
      nearer_.push_back(static_cast<std::uint8_t>(pipes::nearer_noc(node(from), node(to), size_)));
}

void ChipLinks::add(const Intake& intake, const OpModel& model, const Place& place, const Standing& standing, double factor,
                    std::vector<double>& bytes) const {
  auto node = [&](GridCoord core) { return device_.noc_of_worker(worker_of(place, core)); };
  for (const Intake::Edge& edge : intake.edges) {
    const PlacedOp& producer = standing(edge.producer);
    const std::int32_t cols = producer.model.grid.cols;
    auto source = [&](std::int32_t core) { return device_.noc_of_worker(worker_of(producer.place, {core / cols, core % cols})); };
    const std::int32_t own = edge.route->noc, turned = place.transposed ? 1 - own : own;
    const std::int32_t noc = own == Intake::kNearerNoc ? nearer(source(0), node({0, 0})) : turned;
    for (const Intake::Message& m : edge.route->messages) go(noc, source(m.from), node(m.to), factor * m.bytes, bytes);
  }
  for (const Intake::Multicast& m : intake.multicasts) {
    const std::int32_t noc = place.transposed ? 1 - m.noc : m.noc;
    go(noc, node(m.from), node(m.last), factor * m.bytes, bytes);
    // Each core takes a copy, also the one that sends.
    for (std::int32_t row = std::min(m.from.row, m.last.row); row <= std::max(m.from.row, m.last.row); ++row)
      for (std::int32_t col = std::min(m.from.col, m.last.col); col <= std::max(m.from.col, m.last.col); ++col)
        if (GridCoord core{row, col}; core != m.last) take(noc, node(core), factor * m.bytes, bytes);
  }
  for (const Intake::Queued& queued : intake.queued)
    for (const Share& share : queue_ways(model.grid, place, queued))
      bytes[share.link] += factor * queued.bytes * static_cast<double>(share.part);
}

const std::vector<ChipLinks::Share>& ChipLinks::queue_ways(GridShape grid, const Place& place, const Intake::Queued& queued) const {
  std::uint64_t key = place.transposed ? 1 : 0;
  for (std::int32_t number : {grid.rows, grid.cols, place.at.row, place.at.col, queued.channel + 2, static_cast<std::int32_t>(queued.axis)})
    key = key << 10 | static_cast<std::uint64_t>(number);
  const auto [known, fresh] = queue_ways_.try_emplace(key);
  if (!fresh) return known->second;
  std::vector<double> parts(count(), 0);
  const NocCoord first = device_.noc_of_worker(worker_of(place, {0, 0}));
  const std::int32_t cores = queued.axis == MulticastAxis::core  ? static_cast<std::int32_t>(grid.volume())
                             : queued.axis == MulticastAxis::row ? grid.rows
                                                                 : grid.cols;
  for (std::int32_t i = 0; i < cores; ++i)
    add_way(first, device_.noc_of_worker(worker_of(place, taking_core(grid, queued.axis, i))), queued.channel, parts);
  for (std::size_t link = 0; link < parts.size(); ++link)
    if (parts[link] > 0) known->second.push_back({static_cast<std::uint16_t>(link), static_cast<float>(parts[link])});
  return known->second;
}

void ChipLinks::add_way(NocCoord first, NocCoord core, std::int32_t channel, std::vector<double>& bytes) const {
  // A queue's port is the one nearest to the first core, and a core reads all buffers of a queue by one network.
  std::vector<NocCoord> ports;
  for (const device::DramChannel& c : device_.dram.channels)
    ports.push_back(c.ports.empty() ? first : c.ports[static_cast<std::size_t>(pipes::nearest_port(c, first, size_))]);
  const double each = 1 / static_cast<double>(std::max<std::size_t>(ports.size(), 1));
  if (channel == Intake::kWritten) {
    for (NocCoord port : ports) go(nearer(core, port), core, port, each, bytes);
  } else if (channel != Intake::kAllChannels) {
    const NocCoord port = ports[static_cast<std::size_t>(channel)];
    go(nearer(port, core), port, core, 1, bytes);
  } else {
    const auto by_1 = std::count_if(ports.begin(), ports.end(), [&](NocCoord port) { return nearer(port, core) == 1; });
    const int noc = 2 * by_1 > static_cast<std::ptrdiff_t>(ports.size()) ? 1 : 0;
    for (NocCoord port : ports) go(noc, port, core, each, bytes);
  }
}

LinkLoads::LinkLoads(const Placement& placement, LinkModel& model) : placement_(placement), model_(model), bytes_(model.links.count(), 0) {}

double LinkLoads::busiest_with(const Intake& intake, const OpModel& model, const Place& place) const {
  std::vector<double> bytes = bytes_;
  model_.links.add(
      intake, model, place, [&](OpId op) -> const PlacedOp& { return placement_.placed(op); }, 1, bytes);
  return *std::max_element(bytes.begin(), bytes.end()) / model_.links.rate();
}

double LinkLoads::busiest() const { return *std::max_element(bytes_.begin(), bytes_.end()) / model_.links.rate(); }

void LinkLoads::follow(std::size_t end) {
  const auto& now = placement_.in_epoch();
  std::size_t same = 0;
  while (same < stood_.size() && same < now.size() && stood_[same].op == now[same] && stood_[same].placed == placement_.placed(now[same]))
    ++same;
  if (same < stood_.size()) {
    stood_.clear();
    std::fill(bytes_.begin(), bytes_.end(), 0);
    same = 0;
  }
  for (std::size_t i = same; i < now.size(); ++i) {
    const PlacedOp& op = placement_.placed(now[i]);
    model_.links.add(
        model_.intakes.intake(now[i], op.model, end), op.model, op.place,
        [&](OpId other) -> const PlacedOp& { return placement_.placed(other); }, 1, bytes_);
    stood_.push_back({now[i], op});
  }
}

}  // namespace buda::balance
