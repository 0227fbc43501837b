// SPDX-License-Identifier: Apache-2.0
// Names of phases, as TT-Buda's netlists have them and as sentences do.
#include <buda/balance/emit/epoch_phases.hpp>

#include <buda/balance/problem/phases.hpp>
#include <buda/base/text.hpp>

#include <array>
#include <set>

namespace buda::balance {
namespace {

constexpr std::array<const char*, kPhases> kInNames = {"fwd", "bwd", "opt"};
constexpr std::array<const char*, kPhases> kInSentences = {"forward", "backward", "optimizer"};

}  // namespace

std::vector<std::vector<std::int32_t>> phases_of_epochs(const Problem& problem, const Choice& choice) {
  std::vector<std::set<std::int32_t>> phases(static_cast<std::size_t>(choice.epochs()));
  for (std::size_t i = 0; i < choice.ops.size(); ++i) phases[static_cast<std::size_t>(choice.ops[i].epoch)].insert(problem.ops[i].phase);
  std::vector<std::vector<std::int32_t>> out;
  out.reserve(phases.size());
  for (const auto& of_epoch : phases) out.emplace_back(of_epoch.begin(), of_epoch.end());
  return out;
}

std::string phases_text(const std::vector<std::int32_t>& phases) {
  std::vector<std::string> out;
  for (const std::int32_t phase : phases) out.emplace_back(kInSentences[static_cast<std::size_t>(phase)]);
  return join(out, ", ");
}

std::vector<std::string> graph_names(const Problem& problem, const Choice& choice) {
  std::vector<std::string> out;
  for (const auto& phases : phases_of_epochs(problem, choice)) {
    std::string name;
    for (const std::int32_t phase : phases) name += cat(kInNames[static_cast<std::size_t>(phase)], '_');
    out.push_back(cat(name, "0_", out.size()));
  }
  return out;
}

std::string program_name(const Problem& problem, std::int32_t segment) {
  return problem.trains ? cat("run_", kInNames[static_cast<std::size_t>(segment)], "_0") : cat("run_fwd_", segment);
}

}  // namespace buda::balance
