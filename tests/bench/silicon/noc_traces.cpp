// SPDX-License-Identifier: Apache-2.0
// A closed loop: processors issue, the fabric answers.
#include "noc_traces.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/sim/time/event_queue.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <tuple>

namespace buda::silicon {
namespace {

using device::NocCoord;
using sim::Ticks;

struct TraceStep {
  enum class Kind { start, read, wait, go_on } kind = Kind::read;
  double time = 0;  // recorded, from the first event of the trace; used of starts only
  NocCoord from;    // of reads
  std::uint64_t bytes = 0;
};

struct Processor {
  NocCoord at;
  std::int32_t noc = 0;
  std::vector<TraceStep> steps;
};

struct NocTrace {
  std::string name;
  double span = 0;
  bool of_dram = false;
  std::vector<Processor> processors;
};

// Cycles from one step of a processor to the next, as the two traced kernels take them: one reads L1, the other DRAM. `nothing`: from the
// start of a kernel without reads to its barrier.
struct IssueCosts {
  double first, gap, barrier, after_barrier = 94, nothing = 105;
};
constexpr IssueCosts kOfL1{212, 147, 118}, kOfDram{172, 124, 100};

std::int64_t number(const io::Node& event, const char* key) {
  const io::Node* value = event.find(key);
  if (value == nullptr) return 0;
  const auto read = value->as_int();
  return read ? *read : 0;
}

std::string word(const io::Node& event, const char* key) {
  const io::Node* value = event.find(key);
  if (value == nullptr) return "";
  const auto read = value->as_string();
  return read ? *read : "";
}

// The ports of Wormhole's upper halves of channels, as tt-npe has them; the others are of the lower halves.
constexpr std::array<NocCoord, 7> kUpperHalves{{{0, 11}, {0, 7}, {5, 11}, {5, 9}, {5, 10}, {5, 8}, {5, 7}}};

Result<NocTrace> parse_trace(std::string_view text, const std::string& file, const device::DeviceDescriptor& device) {
  BUDA_ASSIGN(auto root, io::parse_json(text, file));
  NocTrace trace;
  trace.name = file.substr(file.rfind('/') + 1);
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, Processor> processors;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const io::Node& event : root.items()) {
    first = std::min(first, number(event, "timestamp"));
    last = std::max(last, number(event, "timestamp"));
  }
  trace.span = static_cast<double>(last - first);
  for (const io::Node& event : root.items()) {
    Processor& p = processors[{number(event, "sx"), number(event, "sy"), word(event, "proc")}];
    p.at = {static_cast<std::int32_t>(number(event, "sx")), static_cast<std::int32_t>(number(event, "sy"))};
    TraceStep step;
    step.time = static_cast<double>(number(event, "timestamp") - first);
    const std::string type = word(event, "type");
    if (!word(event, "zone").empty()) {
      step.kind = TraceStep::Kind::start;
    } else if (type == "READ_BARRIER_START") {
      step.kind = TraceStep::Kind::wait;
    } else if (type == "READ_BARRIER_END") {
      step.kind = TraceStep::Kind::go_on;
    } else {
      step.from = {static_cast<std::int32_t>(number(event, "dx")), static_cast<std::int32_t>(number(event, "dy"))};
      step.bytes = static_cast<std::uint64_t>(number(event, "num_bytes"));
      p.noc = word(event, "noc") == "NOC_1" ? 1 : 0;
      for (const auto& channel : device.dram.channels)
        trace.of_dram = trace.of_dram || std::count(channel.ports.begin(), channel.ports.end(), step.from) > 0;
    }
    p.steps.push_back(step);
  }
  for (auto& [key, p] : processors) trace.processors.push_back(std::move(p));
  return trace;
}

class Replayer {
 public:
  Replayer(const NocTrace& trace, const device::DeviceDescriptor& device, const Replay& how)
      : trace_(trace),
        device_(device),
        ablation_(how.ablation),
        issue_(how.change.issue),
        costs_(trace.of_dram ? kOfDram : kOfL1),
        varied_(device, how.change),
        fabric_(varied_.fabric()) {}

  double run() {
    state_.resize(trace_.processors.size());
    for (std::uint32_t p = 0; p < state_.size(); ++p)
      if (!trace_.processors[p].steps.empty()) step_at(sim::ticks_of(trace_.processors[p].steps.front().time), p);
    while (!events_.empty()) {
      const sim::Event event = events_.take();
      now_ = event.time;
      switch (event.kind) {
        case sim::EventKind::stepped:
          take_step(event.entity);
          break;
        case sim::EventKind::opened:
          begin_transfer(event.entity);
          break;
        case sim::EventKind::served:
          end_transfer(event.entity);
          break;
        default:
          deliver(event.entity);
      }
    }
    return static_cast<double>(end_) / static_cast<double>(perf::SimTime::kPerCycle);
  }

 private:
  struct State {
    std::size_t step = 0;
    int outstanding = 0;
    bool waits = false;
  };
  struct Transfer {
    std::uint32_t processor = 0;
    const sim::Path* path = nullptr;
    std::uint64_t bytes = 0;
    Ticks back = 0;  // latency of the answer
    sim::Fabric::Started started;
  };

  void step_at(Ticks time, std::uint32_t p) { events_.add(time, sim::EventKind::stepped, p, 0); }

  void take_step(std::uint32_t p) {
    State& s = state_[p];
    const Processor& processor = trace_.processors[p];
    const TraceStep& step = processor.steps[s.step];
    end_ = std::max(end_, now_);
    if (step.kind == TraceStep::Kind::read) request(p, step);
    if (step.kind == TraceStep::Kind::wait && s.outstanding > 0) {
      s.waits = true;
      return;
    }
    if (++s.step == processor.steps.size()) return;
    const TraceStep& next = processor.steps[s.step];
    const Ticks recorded = next.kind == TraceStep::Kind::start ? sim::ticks_of(next.time) : 0;
    step_at(std::max(recorded, now_ + sim::ticks_of(issue_ * cycles_between(step, next))), p);
  }

  double cycles_between(const TraceStep& step, const TraceStep& next) const {
    using Step = TraceStep::Kind;
    if (next.kind == Step::start) return 0;
    if (step.kind == Step::start) return next.kind == Step::read ? costs_.first : costs_.nothing;
    if (step.kind == Step::read) return next.kind == Step::read ? costs_.gap : costs_.barrier;
    return step.kind == Step::wait ? 10 : costs_.after_barrier;
  }

  overlay::DramBuffer buffer_at(NocCoord port) const {
    overlay::DramBuffer out;
    out.port = port;
    for (std::size_t c = 0; c < device_.dram.channels.size(); ++c) {
      const auto& ports = device_.dram.channels[c].ports;
      const auto found = std::find(ports.begin(), ports.end(), port);
      if (found == ports.end()) continue;
      out.channel = static_cast<std::int32_t>(c);
      if (std::count(kUpperHalves.begin(), kUpperHalves.end(), port) > 0) out.address = std::uint64_t{1} << 30;
    }
    return out;
  }

  const sim::Path& path(const Processor& p, NocCoord from) {
    auto [it, fresh] = paths_.try_emplace({p.noc, p.at, from});
    if (!fresh) return it->second;
    overlay::Core here, there;
    here.noc = p.at;
    there.noc = from;
    const bool memory = std::any_of(device_.dram.channels.begin(), device_.dram.channels.end(),
                                    [&](const auto& c) { return std::count(c.ports.begin(), c.ports.end(), from) > 0; });
    sim::Path made = memory ? varied_.read(buffer_at(from), here, p.noc) : varied_.between(there, here, p.noc);
    // The request goes on from here to there, the same way round.
    if (!memory) made.latency += varied_.between(here, there, p.noc).latency;
    if (ablation_ == Ablation::links)
      std::erase_if(made.resources, [&](sim::ResourceId id) { return fabric_.resources()[id].name.starts_with("NoC"); });
    it->second = std::move(made);
    return it->second;
  }

  void request(std::uint32_t p, const TraceStep& step) {
    const sim::Path& way = path(trace_.processors[p], step.from);
    ++state_[p].outstanding;
    transfers_.push_back({p, &way, step.bytes + 32, way.latency / 2, {}});
    events_.add(now_ + (way.latency - way.latency / 2), sim::EventKind::opened, static_cast<std::uint32_t>(transfers_.size() - 1), 0);
  }

  void begin_transfer(std::uint32_t t) {
    Transfer& transfer = transfers_[t];
    // Without contention each transfer is over before the next begins, an age later.
    constexpr Ticks kAge = Ticks{1} << 40;
    if (ablation_ == Ablation::all) ages_ += kAge;
    transfer.started = fabric_.start(*transfer.path, transfer.bytes, ablation_ == Ablation::all ? ages_ : now_);
    if (ablation_ == Ablation::all) fabric_.end(*transfer.path, transfer.bytes, transfer.started);
    events_.add(now_ + transfer.started.duration, sim::EventKind::served, t, 0);
  }

  void end_transfer(std::uint32_t t) {
    if (ablation_ != Ablation::all) fabric_.end(*transfers_[t].path, transfers_[t].bytes, transfers_[t].started);
    events_.add(now_ + transfers_[t].back, sim::EventKind::read, t, 0);
  }

  void deliver(std::uint32_t t) {
    State& s = state_[transfers_[t].processor];
    end_ = std::max(end_, now_);
    if (--s.outstanding > 0 || !s.waits) return;
    s.waits = false;
    if (++s.step < trace_.processors[transfers_[t].processor].steps.size()) step_at(now_, transfers_[t].processor);
  }

  const NocTrace& trace_;
  const device::DeviceDescriptor& device_;
  Ablation ablation_;
  double issue_;
  IssueCosts costs_;
  VariedFabric varied_;
  sim::Fabric& fabric_;
  sim::EventQueue events_;
  std::map<std::tuple<std::int32_t, NocCoord, NocCoord>, sim::Path> paths_;
  std::vector<State> state_;
  std::vector<Transfer> transfers_;
  Ticks now_ = 0, end_ = 0, ages_ = 0;
};

// Without what was recorded after the kernels' starts.
NocTrace starts_of(NocTrace trace) {
  for (Processor& p : trace.processors)
    for (TraceStep& step : p.steps)
      if (step.kind != TraceStep::Kind::start) step.time = 0;
  return trace;
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values.empty() ? 0 : values[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

Result<std::vector<TraceTime>> replay_traces(Host& host, const std::string& folder, const device::DeviceDescriptor& device,
                                             const Replay& how) {
  BUDA_ASSIGN(auto names, host.fs().list(folder));
  std::sort(names.begin(), names.end());
  std::vector<TraceTime> out;
  for (const std::string& name : names) {
    if (!name.ends_with(".json")) continue;
    const std::string path = cat(folder, '/', name);
    BUDA_ASSIGN(io::Bytes bytes, host.fs().read(path));
    BUDA_ASSIGN(NocTrace trace, parse_trace(bytes.view(), path, device));
    const double span = trace.span;
    const NocTrace replayed = how.starts_only ? starts_of(std::move(trace)) : std::move(trace);
    out.push_back({replayed.name, span, Replayer(replayed, device, how).run()});
  }
  return out;
}

TraceErrors errors_of(const std::vector<TraceTime>& times) {
  std::vector<double> errors;
  TraceErrors out;
  for (const TraceTime& t : times) {
    errors.push_back(std::abs(t.error()));
    out.mean += errors.back() / static_cast<double>(times.size());
  }
  out.median = quantile(errors, 0.5);
  out.p90 = quantile(errors, 0.9);
  out.max = quantile(errors, 1);
  return out;
}

std::string trace_table(const std::vector<TraceTime>& times) {
  std::string out;
  char line[160];
  for (const TraceTime& t : times) {
    std::snprintf(line, sizeof line, "%-32s measured %6.0f predicted %6.0f error %+6.1f %%\n", t.name.c_str(), t.measured, t.predicted,
                  t.error());
    out += line;
  }
  const TraceErrors e = errors_of(times);
  std::snprintf(line, sizeof line, "%zu traces: mean %.1f %%, median %.1f %%, 90th percentile %.1f %%, maximum %.1f %%\n", times.size(),
                e.mean, e.median, e.p90, e.max);
  return out + line;
}

std::vector<TraceTime> worst_traces(std::vector<TraceTime> times, std::size_t count) {
  std::stable_sort(times.begin(), times.end(),
                   [](const TraceTime& a, const TraceTime& b) { return std::abs(a.error()) > std::abs(b.error()); });
  times.resize(std::min(times.size(), count));
  return times;
}

}  // namespace buda::silicon
