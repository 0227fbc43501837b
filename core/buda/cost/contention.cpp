// SPDX-License-Identifier: Apache-2.0
// A fixed point: times by what others occupy, and what they occupy by times.
#include <buda/cost/contention.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace buda::cost {
namespace {

constexpr int kMaxRounds = 40;
constexpr double kPrecision = 1e-3;

class Contention {
 public:
  Contention(std::span<const SharingFlow> flows, std::span<const double> rates, std::span<const double> kernels, double inputs,
             double interval)
      : flows_(flows),
        rates_(rates),
        kernels_(kernels),
        inputs_(std::max(inputs, 1.0)),
        least_(std::max(interval, 1e-9)),
        own_(rates.size(), 0),
        all_(rates.size(), 0) {
    for (const SharingFlow& flow : flows) {
      times_.emplace_back();
      for (const FlowVisit& visit : flow.visits) times_.back().push_back(alone(flow, visit));
    }
    of_op_.assign(kernels.size(), {});
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (auto& parts = of_op_[flows[f].op]; parts.empty()) parts.assign(rates.size(), 0);
  }

  std::vector<double> run() {
    for (int round = 0; round < kMaxRounds; ++round) {
      occupy();
      if (!advance()) break;
    }
    std::vector<double> out;
    for (const auto& times : times_) out.push_back(sum_of(times));
    return out;
  }

 private:
  static double sum_of(const std::vector<double>& times) { return std::accumulate(times.begin(), times.end(), 0.0); }
  double cycles(const FlowVisit& visit, std::uint32_t part) const { return visit.bytes / std::max(rates_[part], 1e-9); }

  static double with_latency(const SharingFlow& flow, const FlowVisit& visit, double moving) {
    return std::max(moving, (visit.latency + moving) / flow.transfers);
  }

  double alone(const SharingFlow& flow, const FlowVisit& visit) const {
    double most = 0;
    for (std::uint32_t part : visit.parts) most = std::max(most, cycles(visit, part));
    return with_latency(flow, visit, most);
  }

  // Cycles from one input to the next: of each op, and of all.
  void set_intervals() {
    of_ops_.assign(kernels_.begin(), kernels_.end());
    for (std::size_t f = 0; f < flows_.size(); ++f) of_ops_[flows_[f].op] = std::max(of_ops_[flows_[f].op], sum_of(times_[f]));
    const double sum = sum_of(of_ops_), most = *std::max_element(of_ops_.begin(), of_ops_.end());
    interval_ = std::max((sum + (inputs_ - 1) * most) / inputs_, least_);
  }

  // Flows at each part, times the cycles that they are there.
  void occupy() {
    set_intervals();
    std::fill(all_.begin(), all_.end(), 0);
    for (auto& parts : of_op_) std::fill(parts.begin(), parts.end(), 0);
    for (std::size_t f = 0; f < flows_.size(); ++f)
      for (std::size_t v = 0; v < times_[f].size(); ++v)
        for (std::uint32_t part : flows_[f].visits[v].parts) {
          all_[part] += times_[f][v];
          of_op_[flows_[f].op][part] += times_[f][v];
        }
  }

  // Half of the way to the times beside what is there now; whether any of them is still far.
  bool advance() {
    bool changed = false;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const SharingFlow& flow = flows_[f];
      for (std::size_t v = 0; v < times_[f].size(); ++v)
        for (std::uint32_t part : flow.visits[v].parts) own_[part] += times_[f][v];
      std::vector<double> next;
      for (const FlowVisit& visit : flow.visits) next.push_back(beside_others(flow, visit));
      for (const FlowVisit& visit : flow.visits)
        for (std::uint32_t part : visit.parts) own_[part] = 0;
      for (std::size_t v = 0; v < next.size(); ++v) {
        changed = changed || std::abs(next[v] - times_[f][v]) > kPrecision * times_[f][v];
        times_[f][v] = (times_[f][v] + next[v]) / 2;
      }
    }
    return changed;
  }

  // Of a visit of the flow that `own_` is of.
  double beside_others(const SharingFlow& flow, const FlowVisit& visit) const {
    double moving = 0;
    for (std::uint32_t part : visit.parts) {
      const double in_op = of_op_[flow.op][part] - own_[part], in_others = all_[part] - of_op_[flow.op][part];
      const double found = std::max(in_op, 0.0) / std::max(of_ops_[flow.op], 1e-9) + std::max(in_others, 0.0) / interval_;
      moving = std::max(moving, cycles(visit, part) * (1 + found));
    }
    return with_latency(flow, visit, moving);
  }

  std::span<const SharingFlow> flows_;
  std::span<const double> rates_, kernels_;
  double inputs_, least_, interval_ = 0;
  std::vector<std::vector<double>> times_;  // by flow and visit
  std::vector<double> own_, all_, of_ops_;  // flows at each part, times cycles; cycles by op
  std::vector<std::vector<double>> of_op_;  // by op and part
};

}  // namespace

std::vector<double> contended_times(std::span<const SharingFlow> flows, std::span<const double> rates, std::span<const double> kernels,
                                    double inputs, double interval) {
  if (flows.empty()) return {};
  return Contention(flows, rates, kernels, inputs, interval).run();
}

}  // namespace buda::cost
