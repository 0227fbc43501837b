// Phases: what each stream does, in which order.
//
// Pipes that lead to a common input make a component; their passes run side by side, pass w of one with pass w of the others, and their
// phases are numbered together: id = (pass * slots + slot) * segments + segment, where a segment is a block of the pass (the joined tiles
// that one source gives) and `segments` is the most that any pipe of the component has. `slots` is 1, and more where groups get padding
// after (or before) others, in turns of their own. A sender has a phase for every block. A receiver's phase goes on while the same sender
// sends to nobody else; it has the id of the first block, so that both ends of a connection meet at equal ids.
//
// Nothing is written down twice that repeats itself. The passes of a component repeat after `period` of them: when the output groups begin
// anew and every double-buffered source is back in its first half. If the passes of the epoch are a multiple of that, one period is written
// and iterated.
//
// Where one source gives its whole buffer away in order, or DRAM is read, phases need not follow passes: as many whole passes as fit into
// the limit of tiles make one phase.
#include <buda/overlay/builder.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace buda::overlay {
namespace {

// Far more than a blob can hold: what needs more is not worth making.
constexpr std::int64_t kMaxPhasesPerStream = std::int64_t{1} << 18;

void append_phase(Stream& s, const Phase& p) { append(s.phases, to_tuple(p)); }

std::int64_t index_of(const std::vector<StreamRef>& list, StreamRef ref) { return std::find(list.begin(), list.end(), ref) - list.begin(); }

// The end of a connection: the phase that is still growing.
struct Receiving {
  Phase phase;
  StreamRef from;
  std::int64_t last = -1;  // id of the last block taken
};

// What a sender did last.
struct Sending {
  StreamRef to;
  std::int64_t last = -1;
};

// Tiles of a pass that one source gives and one part of the plan takes. What DRAM gives has no source to tell: -1.
struct Piece {
  std::int32_t source = -1;
  std::int64_t offset = 0, tiles = 0;
  std::size_t part = 0;
};

std::vector<Piece> pieces_of(const PipePlan& plan) {
  std::vector<Piece> out;
  if (plan.source == SourceKind::dram) {
    for (std::size_t i = 0; i < plan.parts.size(); ++i) out.push_back({-1, 0, plan.parts[i].tiles, i});
    return out;
  }
  std::size_t part = 0;
  std::int64_t at = 0;  // in the pass
  for (const Block& b : plan.blocks)
    for (std::int64_t done = 0; done < b.tiles;) {
      while (at >= plan.parts[part].first + plan.parts[part].tiles) ++part;
      const std::int64_t tiles = std::min(b.tiles - done, plan.parts[part].first + plan.parts[part].tiles - at);
      out.push_back({b.source, b.offset + done, tiles, part});
      done += tiles;
      at += tiles;
    }
  return out;
}

// The most turns of padding that stand before the tiles of a pass, or after them; of all parts together.
std::int64_t turns_of_padding(const PipePlan& plan, bool before) {
  std::map<std::size_t, std::int64_t> beside;
  for (const Padding& p : plan.padding)
    if (p.before == before) ++beside[p.beside];
  std::int64_t sum = 0;
  for (const Part& part : plan.parts) {
    std::int64_t most = 0;
    for (std::size_t g : part.groups)
      if (auto it = beside.find(g); it != beside.end()) most = std::max(most, it->second);
    sum += most;
  }
  return sum;
}

}  // namespace

// How many windows a scattered buffer holds: passes alternate between them.
std::int64_t Builder::halves(const Buffer& b) const {
  if (b.type != BufferType::packer) return 1;
  std::int64_t window = std::max<std::int64_t>(1, std::min(b.window_tiles(), total_tiles(b)));
  return std::max<std::int64_t>(1, buffer_tiles(b) / window);
}

void Builder::too_many_phases(const PipePlan& plan, std::int64_t phases, const std::string& what_for) {
  const Buffer& reader = plan.first_output();
  const std::int32_t core = core_of_buffer(reader);
  misfit("OV011", blob_.cores[static_cast<std::size_t>(std::max(core, 0))], "phases", static_cast<std::uint64_t>(phases),
         static_cast<std::uint64_t>(kMaxPhasesPerStream), cat(what_for, " to input ", reader.operand),
         cat("give '", plan.buffers.front()->op, "' and '", reader.op, "' blockings with which tiles travel in longer pieces"));
}

void Builder::make_ring_phases(const PipePlan& plan) {
  bool alone = plan.source == SourceKind::dram || plan.senders.size() == 1;
  std::int64_t tiles = alone ? plan.pass_tiles : plan.blocks.front().tiles, most = device_.streams.max_tiles_per_phase;
  std::vector<StreamRef> all = plan.senders;
  for (const auto& line : plan.lines) all.insert(all.end(), line.begin(), line.end());
  if (plan.sink == SinkKind::kernel)
    for (StreamRef r : receivers_of(plan, 0)) all.push_back(r);
  std::int64_t joined = 1;
  if (tiles <= most)
    for (std::int64_t k = most / tiles; k > 1 && joined == 1; --k)
      if (plan.passes % k == 0) joined = k;
  std::int64_t left = tiles * joined;
  if (ceil_div(left, most) > kMaxPhasesPerStream)
    return too_many_phases(plan, ceil_div(left, most), cat("to bring ", left, " tiles at once"));
  std::vector<PhaseRun> phases;
  for (std::int64_t id = 0; left > 0; ++id) {
    std::int64_t pieces = ceil_div(left, most), messages = ceil_div(left, pieces);
    append<5>(phases, {id, messages, 0, 0, 0});
    left -= messages;
  }
  for (StreamRef r : all) {
    stream_of(r).phases = phases;
    stream_of(r).iterations = plan.passes / joined;
  }
}

void Builder::make_turn_phases(const std::vector<const PipePlan*>& plans) {
  const std::int64_t most = device_.streams.max_tiles_per_phase, passes = plans.front()->passes;
  std::int64_t period = 1, segments = 1, slots = 1;
  std::vector<std::vector<Piece>> pieces;  // in step with `plans`
  std::vector<std::int64_t> slots_before;  // for padding, likewise
  for (const PipePlan* p : plans) {
    if (p->passes != passes)
      return error("OV002", p->pipe, &p->first_output(),
                   cat("it runs ", p->passes, " times, and another pipe to the same input ", passes, " times"));
    std::int64_t here = 0;
    pieces.push_back(pieces_of(*p));
    for (const Piece& piece : pieces.back()) here += ceil_div(piece.tiles, most);
    segments = std::max(segments, here);
    for (const Part& part : p->parts) period = std::min(std::lcm(period, static_cast<std::int64_t>(part.groups.size())), passes);
    slots_before.push_back(turns_of_padding(*p, true));
    slots = std::max(slots, slots_before.back() + 1 + turns_of_padding(*p, false));
    for (const Padding& pad : p->padding)
      segments = std::max(segments, pad.tiles / p->buffers[static_cast<std::size_t>(pad.source)]->scatter_gather_num_tiles);
    if (p->source == SourceKind::output)
      for (const Buffer* b : p->buffers) period = std::min(std::lcm(period, halves(*b)), passes);
  }
  if (passes % period != 0) period = passes;
  if (auto phases = checked_mul(period, segments * slots); !phases || *phases > kMaxPhasesPerStream)
    return too_many_phases(*plans.front(), phases.value_or(1LL << 40),
                           cat("to bring ", period, " windows of ", segments * slots, " pieces"));

  std::map<StreamRef, Receiving> receiving;
  std::map<StreamRef, Sending> sending;
  std::set<StreamRef> members;
  auto flush = [&](StreamRef r) {
    auto it = receiving.find(r);
    if (it == receiving.end()) return;
    append_phase(stream_of(r), it->second.phase);
    receiving.erase(it);
  };
  // Whether a block continues the phase of a receiver: it has to come from the same sender, which has sent nothing elsewhere in between.
  // `to` is the receiver, or the first of several.
  auto continues = [&](StreamRef r, StreamRef from, StreamRef to, std::int64_t tiles) {
    auto it = receiving.find(r);
    auto s = sending.find(from);
    return it != receiving.end() && it->second.from == from && s != sending.end() && s->second.to == to &&
           s->second.last == it->second.last && it->second.phase.messages + tiles <= most;
  };
  auto receive = [&](StreamRef r, StreamRef from, bool more, std::int64_t id, std::int64_t tiles, std::int64_t destination) {
    members.insert(r);
    if (!more) {
      flush(r);
      receiving[r] = {{id, 0, index_of(stream_of(r).sources, from), destination, 0}, from, -1};
    }
    receiving[r].phase.messages += tiles;
    receiving[r].last = id;
  };
  // A block passes from the sender along the line to the receivers. Where one of them begins a phase, so do all before it in the line.
  auto send = [&](const PipePlan& p, std::int32_t source, std::size_t target, std::int64_t id, std::int64_t offset, std::int64_t tiles) {
    const auto& line = p.lines[target];
    auto receivers = receivers_of(p, target);
    const Padding* pads = source >= 0 ? p.only_pads(source, target) : nullptr;
    const std::size_t hops = pads != nullptr ? p.joins(*pads) : 0;
    std::vector<StreamRef> path;
    if (source >= 0) path.push_back(p.senders[static_cast<std::size_t>(source)]);
    path.insert(path.end(), line.begin() + static_cast<std::ptrdiff_t>(hops), line.end());
    const StreamRef sender = path.front();
    members.insert(sender);
    auto next_of = [&](std::size_t i) { return i + 1 < path.size() ? path[i + 1] : receivers.front(); };
    auto destination_of = [&](std::size_t i) {
      return i + 1 < path.size() || !receivers.empty() ? destination_index(path[i], next_of(i)) : std::int64_t{0};
    };
    append_phase(stream_of(sender), {id, tiles, 0, destination_of(0), offset});
    bool more =
        std::all_of(receivers.begin(), receivers.end(), [&](StreamRef r) { return continues(r, path.back(), receivers.front(), tiles); });
    for (StreamRef r : receivers) receive(r, path.back(), more, id, tiles, 0);
    for (std::size_t i = path.size() - 1; i > 0; --i) {
      more = more && continues(path[i], path[i - 1], path[i], tiles);
      receive(path[i], path[i - 1], more, id, tiles, destination_of(i));
    }
    for (std::size_t i = 0; i < path.size(); ++i)
      if (i + 1 < path.size() || !receivers.empty()) sending[path[i]] = {next_of(i), id};
  };

  auto send_padding = [&](const PipePlan& p, const Padding& pad, std::int64_t id) {
    const std::int64_t tiles = p.buffers[static_cast<std::size_t>(pad.source)]->scatter_gather_num_tiles;
    for (std::int64_t sent = 0; sent < pad.tiles; sent += tiles) send(p, pad.source, p.target_of[pad.group], id++, 0, tiles);
  };

  for (std::int64_t pass = 0; pass < period; ++pass)
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const PipePlan* p = plans[i];
      auto group_of = [&](const Part& part) {
        return part.groups[static_cast<std::size_t>(pass % static_cast<std::int64_t>(part.groups.size()))];
      };
      auto pad = [&](bool before, std::int64_t slot) {
        for (const Part& part : p->parts)
          for (const Padding& pads : p->padding)
            if (pads.beside == group_of(part) && pads.before == before) send_padding(*p, pads, (pass * slots + slot++) * segments);
      };
      std::int64_t id = (pass * slots + slots_before[i]) * segments;
      pad(true, 0);
      for (const Piece& piece : pieces[i]) {
        const std::size_t target = p->target_of[group_of(p->parts[piece.part])];
        std::int64_t offset = piece.offset;
        if (piece.source >= 0) {
          const Buffer& b = *p->buffers[static_cast<std::size_t>(piece.source)];
          std::int64_t half = halves(b), window = std::min(b.window_tiles(), std::max<std::int64_t>(total_tiles(b), 1));
          offset += half > 1 ? pass % half * window : 0;
        }
        for (std::int64_t left = piece.tiles; left > 0; ++id) {
          std::int64_t tiles = std::min(left, most);
          send(*p, piece.source, target, id, piece.source >= 0 ? offset : 0, tiles);
          offset += tiles;
          left -= tiles;
        }
      }
      pad(false, slots_before[i] + 1);
    }
  while (!receiving.empty()) flush(receiving.begin()->first);
  for (StreamRef r : members) stream_of(r).iterations = passes / period;
  for (const PipePlan* p : plans)
    for (std::size_t i = 0; i < p->senders.size() && p->source == SourceKind::output; ++i) {
      Stream& s = stream_of(p->senders[i]);
      s.window_tiles = std::min(p->buffers[i]->window_tiles(), std::max<std::int64_t>(total_tiles(*p->buffers[i]), 1));
      s.ids_per_pass = slots * segments;
      s.passes = period;
    }
}

// What a kernel accumulates passes through its own buffer.
void Builder::make_intermediate_phases() {
  for (const Buffer& b : graph_.buffers) {
    if (b.type != BufferType::intermediate && b.type != BufferType::gradient_op) continue;
    auto it = kernel_streams_.find(b.id);
    std::int64_t total = total_tiles(b), most = device_.streams.max_tiles_per_phase;
    if (it == kernel_streams_.end() || total < 1) continue;
    Stream& s = stream_of(it->second);
    std::int64_t messages = std::min(total, most);
    while (total % messages != 0) --messages;
    s.phases.push_back({{0, messages, 0, 0, 0}, {}, 1});
    s.iterations = total / messages;
  }
}

// Components, and what flows in them. An output is a ring for all that take from it, or for none: the kernel hands it out in one way. Rings
// among others go by blocks, too.
void Builder::find_flows() {
  std::vector<std::size_t> root(plans_.size());
  std::iota(root.begin(), root.end(), 0);
  auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const auto& [id, feeds] : feeds_)
    for (std::size_t i : feeds) {
      std::size_t a = find(feeds.front()), b = find(i);
      root[std::max(a, b)] = std::min(a, b);
    }
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < plans_.size(); ++i) members[find(i)].push_back(i);
  std::unordered_set<Id> cut;
  for (const auto& [first, plans] : members) {
    plans_[first].flows = plans.size() == 1 && plans_[first].ring;
    components_.emplace_back();
    for (std::size_t i : plans) {
      const PipePlan& p = plans_[i];
      components_.back().push_back(&p);
      if (p.source == SourceKind::output && !p.flows)
        for (const Buffer* b : p.buffers) cut.insert(b->id);
    }
  }
  for (PipePlan& p : plans_) p.flows = p.flows && !(p.source == SourceKind::output && cut.contains(p.buffers.front()->id));
}

void Builder::make_phases() {
  for (const auto& plans : components_) {
    const PipePlan& plan = *plans.front();
    if (plan.sink == SinkKind::share) continue;
    if (plan.flows) {
      make_ring_phases(plan);
      continue;
    }
    for (const PipePlan* p : plans)
      for (StreamRef s : p->senders) stream_of(s).scattered = true;
    make_turn_phases(plans);
  }
  make_intermediate_phases();
}

}  // namespace buda::overlay
