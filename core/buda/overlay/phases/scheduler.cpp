// SPDX-License-Identifier: Apache-2.0
// Component by component.
#include <buda/overlay/phases/scheduler.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/overlay/phases/pass_numbering.hpp>
#include <buda/overlay/phases/phase_recorder.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace buda::overlay {
namespace {

// Far more than a stream program can have: what needs more is not worth making.
constexpr std::int64_t kMaxPhasesPerStream = std::int64_t{1} << 18;

struct Member {
  const PipePlan* plan = nullptr;
  const PipeStreams* streams = nullptr;
};
using Component = std::vector<Member>;

void refuse_phases(const CoreMap& cores, const PipePlan& plan, std::int64_t phases, const std::string& use, Violations& violations) {
  const Buffer& reader = plan.first_output();
  const std::int32_t core = std::max(cores.of(reader), 0);
  violations.shortage(cores[core], {.code = "OV011",
                                    .resource = "phases",
                                    .needed = static_cast<std::uint64_t>(phases),
                                    .available = static_cast<std::uint64_t>(kMaxPhasesPerStream),
                                    .what = cat(use, " to input ", reader.operand),
                                    .hint = cat("give '", plan.sources.front()->op, "' and '", reader.op,
                                                "' blockings with which more consecutive tiles have the same route"),
                                    .notes = {}});
}

// The largest number of passes whose tiles fit into a phase, and that divides all passes; 1 at least.
std::int64_t passes_per_phase(std::int64_t tiles, std::int64_t passes, std::int64_t max_tiles) {
  if (tiles > max_tiles) return 1;
  for (std::int64_t k = max_tiles / tiles; k > 1; --k)
    if (passes % k == 0) return k;
  return 1;
}

// All streams of a ring have the same phases, of about the same length.
void schedule_ring(const EpochInput& in, const CoreMap& cores, const Member& pipe, PhaseSchedule& schedule, Violations& violations) {
  const PipePlan& plan = *pipe.plan;
  const std::int64_t max_tiles = in.device.streams.max_tiles_per_phase;
  // Several cores that write an output without tiles have a block each.
  const bool is_single = plan.source == SourceKind::dram || pipe.streams->senders.size() == 1;
  const std::int64_t pass_tiles = is_single ? plan.pass_tiles : plan.blocks.front().tiles;
  const std::int64_t joined = passes_per_phase(pass_tiles, plan.passes, max_tiles);
  std::int64_t left = pass_tiles * joined;
  if (const std::int64_t count = ceil_div(left, max_tiles); count > kMaxPhasesPerStream)
    return refuse_phases(cores, plan, count, cat("to bring ", left, " tiles at once"), violations);
  StreamPhases phases;
  phases.iterations = plan.passes / joined;
  for (std::int64_t id = 0; left > 0; ++id) {
    const std::int64_t messages = ceil_div(left, ceil_div(left, max_tiles));
    append<5>(phases.phases, {id, messages, 0, 0, 0});
    left -= messages;
  }
  for (StreamRef r : pipe.streams->senders) schedule.at(r) = phases;
  for (const TargetStreams& target : pipe.streams->targets)
    for (StreamRef r : target.chain) schedule.at(r) = phases;
  if (plan.sink != SinkKind::kernel) return;
  for (StreamRef r : pipe.streams->targets.front().receivers) schedule.at(r) = phases;
}

// The paths of a pipe's tiles, each computed once: by source (-1: DRAM) and target.
class PathTable {
 public:
  PathTable(const Member& pipe, const PerStream<Stream>& streams) : pipe_(pipe), streams_(streams) {}

  const StreamPath& path(std::int32_t source, std::size_t target) {
    auto [it, fresh] = paths_.try_emplace({source, target});
    if (fresh) it->second = find_path(source, target);
    return it->second;
  }

 private:
  StreamPath find_path(std::int32_t source, std::size_t t) const {
    const TargetStreams& target = pipe_.streams->targets[t];
    const Padding* padding = source >= 0 ? only_padding(*pipe_.plan, *pipe_.streams, source, t) : nullptr;
    const std::size_t first = padding != nullptr ? joint_of(*pipe_.plan, *pipe_.streams, *padding) : 0;
    std::vector<StreamRef> path;
    if (source >= 0) path.push_back(pipe_.streams->senders[static_cast<std::size_t>(source)]);
    path.insert(path.end(), target.chain.begin() + static_cast<std::ptrdiff_t>(first), target.chain.end());
    return make_path(streams_, std::move(path), target.receivers);
  }

  const Member& pipe_;
  const PerStream<Stream>& streams_;
  std::map<std::pair<std::int32_t, std::size_t>, StreamPath> paths_;
};

// Sends the blocks of one pipe, pass after pass.
class PassSender {
 public:
  PassSender(const EpochInput& in, const Member& pipe, const PassNumbering& numbering, std::size_t number, const PerStream<Stream>& streams)
      : in_(in), pipe_(pipe), numbering_(numbering), of_pipe_(numbering.pipes[number]), paths_(pipe, streams) {}

  void send_pass(std::int64_t pass, PhaseRecorder& recorder) {
    send_padding(pass, true, 0, recorder);
    send_pieces(pass, recorder);
    send_padding(pass, false, of_pipe_.slots_before + 1, recorder);
  }

 private:
  static std::size_t group_of(const Part& part, std::int64_t pass) {
    return part.groups[static_cast<std::size_t>(pass) % part.groups.size()];
  }

  void send_padding(std::int64_t pass, bool before, std::int64_t slot, PhaseRecorder& recorder) {
    for (const Part& part : pipe_.plan->parts)
      for (const Padding& p : pipe_.plan->padding) {
        if (p.beside != group_of(part, pass) || p.before != before) continue;
        const std::int64_t tiles = pipe_.plan->sources[static_cast<std::size_t>(p.source)]->scatter_gather_num_tiles;
        const StreamPath& path = paths_.path(p.source, pipe_.streams->target_of[p.group]);
        std::int64_t id = numbering_.id(pass, slot++);
        for (std::int64_t sent = 0; sent < p.tiles; sent += tiles) recorder.send(path, id++, 0, tiles);
      }
  }

  void send_pieces(std::int64_t pass, PhaseRecorder& recorder) {
    const std::int64_t max_tiles = in_.device.streams.max_tiles_per_phase;
    std::int64_t id = numbering_.id(pass, of_pipe_.slots_before);
    for (const Piece& piece : of_pipe_.pieces) {
      const StreamPath& path = paths_.path(piece.source, pipe_.streams->target_of[group_of(pipe_.plan->parts[piece.part], pass)]);
      std::int64_t offset = piece.source >= 0 ? piece.offset + window_offset(piece.source, pass) : 0;
      for (std::int64_t left = piece.tiles; left > 0; ++id) {
        const std::int64_t tiles = std::min(left, max_tiles);
        recorder.send(path, id, offset, tiles);
        if (piece.source >= 0) offset += tiles;
        left -= tiles;
      }
    }
  }

  // Where in its buffer a source has the window of a pass.
  std::int64_t window_offset(std::int32_t source, std::int64_t pass) const {
    const Buffer& b = *pipe_.plan->sources[static_cast<std::size_t>(source)];
    const std::int64_t windows = windows_in_buffer(b, in_.buffers);
    return windows > 1 ? pass % windows * output_window(b) : 0;
  }

  const EpochInput& in_;
  const Member& pipe_;
  const PassNumbering& numbering_;
  const PassNumbering::OfPipe& of_pipe_;
  PathTable paths_;
};

bool check_passes(const std::vector<const PipePlan*>& plans, Violations& violations) {
  for (const PipePlan* p : plans) {
    if (p->passes == plans.front()->passes) continue;
    violations.error("OV002", p->pipe, &p->first_output(),
                     cat("it runs ", p->passes, " times, and another pipe to the same input ", plans.front()->passes, " times"));
    return false;
  }
  return true;
}

void schedule_passes(const EpochInput& in, const CoreMap& cores, const Component& component, const PerStream<Stream>& streams,
                     PhaseSchedule& schedule, Violations& violations) {
  std::vector<const PipePlan*> plans;
  for (const Member& pipe : component) plans.push_back(pipe.plan);
  if (!check_passes(plans, violations)) return;
  const PassNumbering numbering = number_passes(in, plans);
  if (auto phases = checked_mul(numbering.period, numbering.ids_per_pass()); !phases || *phases > kMaxPhasesPerStream)
    return refuse_phases(cores, *plans.front(), phases.value_or(1LL << 40),
                         cat("to bring ", numbering.period, " windows of ", numbering.ids_per_pass(), " pieces"), violations);

  PhaseRecorder recorder(streams, in.device.streams.max_tiles_per_phase, schedule);
  std::vector<PassSender> senders;
  for (std::size_t i = 0; i < component.size(); ++i) senders.emplace_back(in, component[i], numbering, i, streams);
  for (std::int64_t pass = 0; pass < numbering.period; ++pass)
    for (PassSender& sender : senders) sender.send_pass(pass, recorder);
  recorder.finish(numbering.passes / numbering.period);

  for (const Member& pipe : component) {
    if (pipe.plan->source != SourceKind::output) continue;
    for (std::size_t i = 0; i < pipe.streams->senders.size(); ++i) {
      StreamPhases& s = schedule.at(pipe.streams->senders[i]);
      s.window_tiles = output_window(*pipe.plan->sources[i]);
      s.ids_per_pass = numbering.ids_per_pass();
      s.passes = numbering.period;
    }
  }
}

// What a kernel accumulates passes through its own buffer.
void schedule_intermediates(const EpochInput& in, const PerStream<Stream>& streams, PhaseSchedule& schedule) {
  for (std::size_t i = 0; i < streams.cores(); ++i)
    for (const auto& [number, s] : streams.of_core(i)) {
      if (s.kind != StreamKind::intermediate) continue;
      const std::int64_t total = epoch_tiles(*in.buffers.find(s.buffer));
      if (total < 1) continue;
      std::int64_t messages = std::min<std::int64_t>(total, in.device.streams.max_tiles_per_phase);
      while (total % messages != 0) --messages;
      StreamPhases& phases = schedule.of_core(i).at(number);
      phases.phases.push_back({{0, messages, 0, 0, 0}, {}, 1});
      phases.iterations = total / messages;
    }
}

}  // namespace

PhaseSchedule schedule_phases(const EpochInput& in, const CoreMap& cores, const PipePlans& plans, const StreamAllocation& streams,
                              Violations& violations) {
  PhaseSchedule out(streams.streams.cores());
  for (std::size_t i = 0; i < streams.streams.cores(); ++i)
    for (const auto& [number, s] : streams.streams.of_core(i)) out.of_core(i)[number];
  for (const auto& members : plans.components) {
    Component component;
    for (std::size_t i : members) component.push_back({&plans.pipes[i], &streams.pipes[i]});
    const PipePlan& first = *component.front().plan;
    if (first.sink == SinkKind::share) continue;
    if (first.flows) {
      schedule_ring(in, cores, component.front(), out, violations);
    } else {
      schedule_passes(in, cores, component, streams.streams, out, violations);
    }
  }
  schedule_intermediates(in, streams.streams, out);
  return out;
}

}  // namespace buda::overlay
