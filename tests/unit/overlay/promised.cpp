// SPDX-License-Identifier: Apache-2.0
// Goes pass by pass through each pipe's list. A pass ends when all tiles that the receivers are promised in the epoch have come.
#include "unit/overlay/promised.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

using pipes::Buffer;
using pipes::BufferType;
using pipes::Pipe;
using pipes::PipeGraph;

class Reader {
 public:
  explicit Reader(const PipeGraph& graph) : graph_(graph), index_(graph.buffers) {
    for (const Pipe& p : graph.pipes)
      for (std::size_t g = 0; g < p.outputs.size(); ++g)
        for (Id id : p.outputs[g]) feeds_[id].emplace_back(&p, g);
  }

  Promised run() {
    Promised out;
    for (const Buffer& b : graph_.buffers) {
      if (b.type == BufferType::unpacker) out.inputs[b.id] = all(b);
      if (b.type == BufferType::dram_io && feeds_.contains(b.id) && !b.untilized.on) out.queues[b.id] = all(b);
    }
    return out;
  }

 private:
  static std::int64_t whole(const Buffer& b) { return b.epoch_tiles * (b.is_scatter ? b.replicate : 1); }

  // Passes that a source gives in the epoch; 0: it does not know.
  std::int64_t passes(const Buffer& b) const {
    if (b.is_padding) return 0;
    if (is_relay(b)) return std::max<std::int64_t>(1, whole(b) / std::max<std::int64_t>(1, b.window_tiles()));
    if (b.type == BufferType::prolog_relay) {
      auto it = feeds_.find(b.id);
      return it == feeds_.end() ? 0 : passes(*index_.find(it->second.front().first->inputs.front()));
    }
    if (b.type != BufferType::packer) return std::max<std::int64_t>(1, whole(b) / std::max<std::int64_t>(1, b.tiles_per_input));
    std::int64_t n = whole(b), w = std::max<std::int64_t>(1, b.window_tiles());
    return (n + w - 1) / w;
  }

  static bool is_relay(const Buffer& b) { return b.type == BufferType::relay || b.type == BufferType::ethernet_relay; }

  // Tiles [first, first + count) of what passes through a relay buffer in the epoch.
  void add_relayed(const Buffer& relay, std::int64_t first, std::int64_t count, std::vector<Tiles>& out) const {
    auto [it, fresh] = relayed_.try_emplace(relay.id);
    if (fresh) it->second = all(relay);
    for (Tiles t : it->second) {
      if (first >= t.count) {
        first -= t.count;
        continue;
      }
      std::int64_t take = std::min(count, t.count - first);
      t.first += first;
      t.count = take;
      append_tiles(out, t);
      first = 0;
      if ((count -= take) == 0) return;
    }
  }

  std::vector<Tiles> all(const Buffer& target) const {
    std::vector<Tiles> out;
    auto feeds = feeds_.find(target.id);
    if (feeds == feeds_.end()) return out;
    std::int64_t n = 0;
    for (const auto& [pipe, group] : feeds->second)
      for (Id id : pipe->inputs) n = std::max(n, passes(*index_.find(id)));
    for (std::int64_t pass = 0; pass < n; ++pass)
      for (std::size_t f = 0; f < feeds->second.size(); ++f) {
        const Pipe* pipe = feeds->second[f].first;
        if (f > 0 && feeds->second[f - 1].first == pipe) continue;
        give_pass(*pipe, target.id, pass, out);
      }
    return out;
  }

  // Goes once more round the groups of a pipe, from that of pass `pass` to the next that is not padded.
  void give_pass(const Pipe& pipe, Id target, std::int64_t pass, std::vector<Tiles>& out) const {
    auto padding = [&](std::size_t g) { return g < pipe.output_padding.size() ? pipe.output_padding[g] : Id{0}; };
    auto reaches = [&](std::size_t g) { return std::count(pipe.outputs[g].begin(), pipe.outputs[g].end(), target) > 0; };
    std::vector<std::size_t> taking;
    for (std::size_t g = 0; g < pipe.outputs.size(); ++g)
      if (padding(g) == 0) taking.push_back(g);
    if (taking.empty()) return;
    std::size_t turn = static_cast<std::size_t>(pass) % taking.size();
    auto pad = [&](std::size_t first, std::size_t end) {
      for (std::size_t g = first; g < end; ++g)
        if (reaches(g)) append_tiles(out, {Tiles::Kind::padding, index_.find(padding(g))->id, 0, 0, pass_tiles(pipe)});
    };
    if (turn == 0) pad(0, taking[0]);
    if (reaches(taking[turn])) add(pipe, pass, out);
    pad(taking[turn] + 1, turn + 1 < taking.size() ? taking[turn + 1] : pipe.outputs.size());
  }

  std::int64_t pass_tiles(const Pipe& pipe) const {
    std::int64_t tiles = 0;
    for (Id id : pipe.inputs) tiles += index_.find(id)->scatter_gather_num_tiles;
    return tiles * pipe.repeats();
  }

  // Where a piece of a row lies among those of its buffer: bytes from the beginning of the entry, in pieces.
  std::int64_t piece(const Pipe& pipe, const Buffer& b, std::int64_t row, std::int64_t before) const {
    std::int64_t rows = b.rows.hw_tilize ? b.rows.tilize_mblock_n_loop_num_rows : pass_tiles(pipe) / b.untilized.c;
    std::int64_t bytes = row * b.untilized.c * b.rows.table_core_c_div * b.tile_size + before / rows % b.untilized.c * b.tile_size +
                         index_.find(pipe.outputs.front().front())->rows.tilize_row_col_offset;
    return bytes / b.tile_size;
  }

  void add(const Pipe& pipe, std::int64_t pass, std::vector<Tiles>& out) const {
    std::map<Id, std::int64_t> seen;  // blocks of a relay buffer in this pass
    std::int64_t before = 0;          // pieces of rows
    for (std::int64_t r = 0; r < pipe.repeats(); ++r)
      for (Id id : pipe.inputs) {
        const Buffer& b = *index_.find(id);
        auto offset = static_cast<std::int64_t>(id - b.id);
        std::int64_t count = b.scatter_gather_num_tiles;
        if (b.rows.hw_tilize || b.rows.embedding_table) {
          append_tiles(out, {Tiles::Kind::queue, b.id, pass, piece(pipe, b, offset, before), count});
          before += count;
        } else if (b.is_padding) {
          append_tiles(out, {Tiles::Kind::padding, b.id, 0, 0, count});
        } else if (b.type == BufferType::packer) {
          std::int64_t first = pass * b.window_tiles() + offset;
          append_tiles(out, {Tiles::Kind::output, b.id, 0, first, std::min(count, whole(b) - first)});
        } else if (b.type == BufferType::prolog_relay) {
          add(*feeds_.at(b.id).front().first, 0, out);
        } else if (is_relay(b) && b.is_scatter) {
          add_relayed(b, pass * b.window_tiles() + offset, count, out);
        } else if (is_relay(b)) {
          auto in_pass = pipe.repeats() * std::count_if(pipe.inputs.begin(), pipe.inputs.end(), [&](Id i) { return index_.find(i) == &b; });
          add_relayed(b, (pass * in_pass + seen[b.id]++) * count, count, out);
        } else {
          append_tiles(out, {Tiles::Kind::queue, b.id, b.type == BufferType::dram_prolog ? 0 : pass, offset, count});
        }
      }
  }

  const PipeGraph& graph_;
  pipes::BufferIndex index_;
  std::map<Id, std::vector<std::pair<const Pipe*, std::size_t>>> feeds_;
  mutable std::map<Id, std::vector<Tiles>> relayed_;
};

std::string first_difference(const char* what, const std::map<Id, std::vector<Tiles>>& wanted,
                             const std::map<Id, std::vector<Tiles>>& got) {
  for (const auto& [id, list] : wanted) {
    auto it = got.find(id);
    if (it == got.end()) return cat(what, " buffer_", id, ": nothing comes");
    for (std::size_t i = 0; i < std::max(list.size(), it->second.size()); ++i) {
      std::string a = i < list.size() ? list[i].text() : "nothing", b = i < it->second.size() ? it->second[i].text() : "nothing";
      if (i >= list.size() || i >= it->second.size() || !(list[i] == it->second[i]))
        return cat(what, " buffer_", id, ", run ", i, ": ", b, " comes, not ", a);
    }
  }
  for (const auto& [id, list] : got)
    if (!wanted.contains(id)) return cat(what, " buffer_", id, ": something comes that nobody promised");
  return "";
}

}  // namespace

Promised promised(const PipeGraph& graph) { return Reader(graph).run(); }

std::string difference(const Promised& wanted, const Replay& got) {
  if (!got.problem.empty()) return got.problem;
  std::string d = first_difference("input", wanted.inputs, got.inputs);
  return d.empty() ? first_difference("queue", wanted.queues, got.queues) : d;
}

}  // namespace buda::overlay
