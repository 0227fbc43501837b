// SPDX-License-Identifier: Apache-2.0
// Chips by epoch, and places in the problem's list of chips.
#include <buda/balance/chips/chips_of_choice.hpp>

#include <algorithm>
#include <cstddef>
#include <set>

namespace buda::balance {

namespace {

bool is_mmio(const Problem& problem, std::int32_t chip) {
  const auto& mmio = problem.device->mmio_chips;
  return std::find(mmio.begin(), mmio.end(), chip) != mmio.end();
}

// Where a choice without chips runs.
std::int32_t only_chip(const Problem& problem) {
  const auto reached = std::find_if(problem.chips.begin(), problem.chips.end(), [&](std::int32_t chip) { return is_mmio(problem, chip); });
  return reached != problem.chips.end() ? *reached : problem.chips.front();
}

}  // namespace

std::int32_t chip_of_epoch(const Problem& problem, const Choice& choice, std::int32_t epoch) {
  return choice.chips.empty() ? only_chip(problem) : choice.chips[static_cast<std::size_t>(epoch)];
}

std::int32_t chip_of_op(const Problem& problem, const Choice& choice, OpId op) {
  return chip_of_epoch(problem, choice, choice.ops[op.index()].epoch);
}

EpochChips chips_of_epochs(const Problem& problem, const Choice& choice) {
  return choice.chips.empty() ? EpochChips(static_cast<std::size_t>(choice.epochs()), only_chip(problem)) : choice.chips;
}

EpochChips chips_of_ops(const Problem& problem, const Choice& choice) {
  if (choice.ops.empty() || problem.ops.front().chip < 0) return {};
  EpochChips out(static_cast<std::size_t>(choice.epochs()), 0);
  for (std::size_t i = 0; i < choice.ops.size(); ++i) out[static_cast<std::size_t>(choice.ops[i].epoch)] = problem.ops[i].chip;
  return out;
}

std::vector<std::int32_t> segments_of_epochs(const Problem& problem, const Choice& choice) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(choice.epochs()), 0);
  for (std::size_t i = 0; i < choice.ops.size(); ++i) out[static_cast<std::size_t>(choice.ops[i].epoch)] = problem.ops[i].segment;
  return out;
}

namespace {

// Queues lie on the chips of the epochs that write them; those of inputs on the chip of the first that reads them.
std::vector<std::vector<std::size_t>> epochs_read(const Problem& problem, const Choice& choice) {
  std::vector<std::set<std::size_t>> reads(static_cast<std::size_t>(choice.epochs()));
  const auto epoch_of = [&](OpId op) { return static_cast<std::size_t>(choice.ops[op.index()].epoch); };
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    for (const OpUse& use : problem.ops[i].users) reads[epoch_of(use.op)].insert(epoch_of(OpId(static_cast<std::uint32_t>(i))));
  for (const SourceSpec& source : problem.sources) {
    if (source.kind != SourceKind::input || source.users.empty()) continue;
    std::size_t first = epoch_of(source.users.front().op);
    for (const OpUse& use : source.users) first = std::min(first, epoch_of(use.op));
    for (const OpUse& use : source.users) reads[epoch_of(use.op)].insert(first);
  }
  std::vector<std::vector<std::size_t>> out;
  out.reserve(reads.size());
  for (const auto& of_epoch : reads) out.emplace_back(of_epoch.begin(), of_epoch.end());
  return out;
}

}  // namespace

StagedEpochs staged_epochs(const Problem& problem, const Choice& choice, std::vector<EpochTime> times) {
  StagedEpochs out;
  out.begins_chip.assign(times.size(), false);
  out.times = std::move(times);
  out.reads = epochs_read(problem, choice);
  out.segments = segments_of_epochs(problem, choice);
  out.chips = problem.chips;
  out.joins_neighbours = problem.device->features.op_to_op_across_graphs;
  out.is_sequential = std::any_of(problem.sinks.begin(), problem.sinks.end(), [](const SinkSpec& s) { return !s.inputs.empty(); });
  for (std::size_t i = 0; i < choice.ops.size(); ++i)
    if (problem.ops[i].begins_chip) out.begins_chip[static_cast<std::size_t>(choice.ops[i].epoch)] = true;
  return out;
}

std::int32_t host_chip(const Problem& problem) {
  const std::int32_t chip = only_chip(problem);
  const auto& mmio = problem.device->mmio_chips;
  return is_mmio(problem, chip) || mmio.empty() ? chip : mmio.front();
}

std::int32_t chips_apart(const Problem& problem, const std::vector<std::int32_t>& chips) {
  std::ptrdiff_t least = static_cast<std::ptrdiff_t>(problem.chips.size()), most = 0;
  for (std::int32_t chip : chips) {
    const std::ptrdiff_t place = std::find(problem.chips.begin(), problem.chips.end(), chip) - problem.chips.begin();
    least = std::min(least, place);
    most = std::max(most, place);
  }
  return chips.empty() ? 0 : static_cast<std::int32_t>(most - least);
}

}  // namespace buda::balance
