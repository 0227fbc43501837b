// SPDX-License-Identifier: Apache-2.0
// Every buffer counts single tiles; everybody is asked again and again until nobody can go on.
#include "unit/liveness/judge.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

namespace buda::liveness {
namespace {

using PipeBuffer = pipes::Buffer;
using pipes::BufferType;
using pipes::Id;

struct Tank {
  const PipeBuffer* buffer = nullptr;
  std::int64_t capacity = -1;  // -1: endless
  std::int64_t put = 0, taken = 0;
  bool endless_source = false;
  bool has_room() const { return capacity < 0 || put - taken < capacity; }
};

// Takes tile after tile of its list, pass after pass.
struct Carrier {
  std::vector<std::pair<Id, std::int64_t>> list;  // buffer, tile in the window
  std::vector<std::vector<Id>> groups;
  std::int64_t pass = 0, passes = 0;
  std::size_t at = 0;
  bool done() const { return pass >= passes; }
};

// What a core does for one input of the graph, one after the other: of each operand so many tiles, then so many out.
struct Action {
  std::vector<std::int64_t> takes;
  std::int64_t gives = 0, room = 0;  // the room that has to be there
};

struct Core {
  std::vector<Id> operands;
  Id output = 0;
  std::vector<Action> actions;
  std::vector<std::int64_t> used;
  std::size_t next = 0;
  std::int64_t input = 0;
};

std::vector<Action> actions_of(const netlist::Op& op) {
  const auto& b = op.block;
  const std::int64_t ublock = std::int64_t{b.ublock_rt} * b.ublock_ct, ublocks = std::int64_t{b.mblock_m} * b.mblock_n;
  std::vector<Action> out;
  const auto type = op_class(op.type);
  for (std::int32_t t = 0; t < b.t; ++t) {
    if (type == netlist::OpClass::matmul) {
      const std::int64_t k = op.attributes.u_kt, blocks = op.attributes.m_k;
      const std::vector<std::int64_t> takes{b.mblock_m * b.ublock_rt * k, b.mblock_n * b.ublock_ct * k};
      for (std::int64_t block = 0; block + 1 < blocks; ++block) out.push_back({takes, 0, block == 0 ? ublock * ublocks : 0});
      // The last blocks stay until all is given.
      for (std::int64_t u = 0; u < ublocks; ++u)
        out.push_back({u + 1 == ublocks ? takes : std::vector<std::int64_t>{-takes[0], -takes[1]}, ublock, ublock});
    } else if (type == netlist::OpClass::reduce) {
      for (std::int32_t z = 0; z < op.attributes.z; ++z)
        for (std::int64_t u = 0; u < ublocks; ++u)
          out.push_back({{ublock}, z + 1 == op.attributes.z ? ublock : 0, z == 0 && u == 0 ? ublock * ublocks : 0});
    } else if (op.inputs.size() <= 2) {
      for (std::int64_t u = 0; u < ublocks; ++u) out.push_back({std::vector<std::int64_t>(op.inputs.size(), ublock), ublock, ublock});
    } else {
      throw std::logic_error("no kernel for " + op.name);
    }
  }
  return out;
}

class Judge {
 public:
  Judge(const pipes::Built& epoch, const std::map<std::string, std::int64_t>& room) : epoch_(epoch) {
    inputs_ = epoch.epochs.front().graphs.front()->input_count;
    for (const PipeBuffer& b : epoch.graph.buffers) {
      Tank& tank = tanks_[b.id];
      tank.buffer = &b;
      if (b.type == BufferType::unpacker) tank.capacity = b.size_tiles;
      if (b.type == BufferType::packer) tank.capacity = b.is_scatter ? b.size_tiles * b.replicate : b.size_tiles;
      if (b.is_queue()) {
        tank.endless_source = epoch.index->netlist().queues[epoch.index->queue(b.op)].from_outside();
        if (auto found = room.find(b.op); found != room.end()) tank.capacity = found->second * b.tiles_per_input;
      }
    }
    for (const pipes::Pipe& pipe : epoch.graph.pipes) add(pipe);
    for (const netlist::Op& op : epoch.epochs.front().graphs.front()->ops) add(op);
  }

  bool ends() {
    for (bool more = true; more;) {
      more = false;
      for (Carrier& c : carriers_)
        while (carry(c)) more = true;
      for (Core& c : cores_)
        while (act(c)) more = true;
    }
    return std::all_of(cores_.begin(), cores_.end(), [&](const Core& c) { return c.input == inputs_; }) &&
           std::all_of(carriers_.begin(), carriers_.end(), [](const Carrier& c) { return c.done(); });
  }

 private:
  static std::int64_t window(const PipeBuffer& b) { return b.is_queue() ? b.tiles_per_input : b.window_tiles(); }

  void add(const pipes::Pipe& pipe) {
    Carrier c;
    if (pipe.repeats() != 1 || pipe.consumer_repeat != 1) throw std::logic_error("repeats");
    for (Id id : pipe.inputs) {
      const PipeBuffer& from = *tanks_.at(pipes::base_id(id)).buffer;
      for (std::int64_t i = 0; i < from.scatter_gather_num_tiles; ++i)
        c.list.emplace_back(from.id, static_cast<std::int64_t>(id - from.id) + i);
    }
    c.groups = pipe.outputs;
    const PipeBuffer& first = *tanks_.at(c.list.front().first).buffer;
    const std::int64_t epoch_tiles = first.is_queue()   ? inputs_ * first.tiles_per_input
                                     : first.is_scatter ? first.epoch_tiles * first.replicate
                                                        : first.epoch_tiles;
    c.passes = epoch_tiles / window(first);
    carriers_.push_back(std::move(c));
  }

  void add(const netlist::Op& op) {
    std::map<std::pair<int, int>, Core> by_place;
    for (const auto& [id, tank] : tanks_) {
      const PipeBuffer& b = *tank.buffer;
      if (b.op != op.name || (b.type != BufferType::unpacker && b.type != BufferType::packer)) continue;
      Core& core = by_place[{b.core.row, b.core.col}];
      core.operands.resize(op.inputs.size());
      if (b.type == BufferType::packer) {
        core.output = id;
      } else {
        core.operands[static_cast<std::size_t>(b.operand)] = id;
      }
    }
    for (auto& [place, core] : by_place) {
      core.actions = actions_of(op);
      core.used.assign(op.inputs.size(), 0);
      cores_.push_back(std::move(core));
    }
  }

  bool carry(Carrier& c) {
    if (c.done()) return false;
    const auto& [from, tile] = c.list[c.at];
    Tank& source = tanks_.at(from);
    if (!source.endless_source && source.put <= c.pass * window(*source.buffer) + tile) return false;
    const auto& group = c.groups[static_cast<std::size_t>(c.pass) % c.groups.size()];
    for (Id to : group)
      if (!tanks_.at(to).has_room()) return false;
    for (Id to : group) ++tanks_.at(to).put;
    if (++c.at == c.list.size()) {
      c.at = 0;
      ++c.pass;
    }
    release(source);
    return true;
  }

  // An output's tile is gone when all pipes that read it have passed it; of scattered ones, its window.
  void release(Tank& source) {
    if (source.buffer->type != BufferType::packer) return;
    std::int64_t taken = source.put;
    for (const Carrier& c : carriers_) {
      const bool reads = std::any_of(c.list.begin(), c.list.end(), [&](const auto& tile) { return tile.first == source.buffer->id; });
      if (!reads || c.done()) continue;
      std::int64_t passed = c.pass * window(*source.buffer);
      if (!source.buffer->is_scatter) passed += static_cast<std::int64_t>(c.at);
      taken = std::min(taken, passed);
    }
    source.taken = std::max(source.taken, taken);
  }

  bool act(Core& c) {
    if (c.input == inputs_) return false;
    const Action& action = c.actions[c.next];
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      const std::int64_t granule = std::max<std::int64_t>(tanks_.at(c.operands[i]).buffer->tile_clear_granularity, 1);
      const std::int64_t needed = c.used[i] + std::abs(action.takes[i]);
      if (tanks_.at(c.operands[i]).put < (needed + granule - 1) / granule * granule) return false;
    }
    Tank& out = tanks_.at(c.output);
    if (out.put - out.taken + std::max(action.room, action.gives) > out.capacity) return false;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      if (action.takes[i] < 0) continue;
      Tank& in = tanks_.at(c.operands[i]);
      c.used[i] += action.takes[i];
      const std::int64_t granule = std::max<std::int64_t>(in.buffer->tile_clear_granularity, 1);
      in.taken = c.used[i] / granule * granule;
    }
    out.put += action.gives;
    if (++c.next == c.actions.size()) {
      c.next = 0;
      ++c.input;
    }
    return true;
  }

  const pipes::Built& epoch_;
  std::int64_t inputs_ = 1;
  std::map<Id, Tank> tanks_;
  std::vector<Carrier> carriers_;
  std::vector<Core> cores_;
};

}  // namespace

bool judge_ends(const pipes::Built& epoch, const std::map<std::string, std::int64_t>& room) { return Judge(epoch, room).ends(); }

}  // namespace buda::liveness
