// SPDX-License-Identifier: Apache-2.0
// Lines and YAML.
#include <buda/compiler/accuracy/report.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>

namespace buda::compiler {
namespace {

constexpr std::size_t kMaxListed = 10;
constexpr std::size_t kMaxNames = 6;

template <class... Numbers>
std::string formatted(const char* form, Numbers... numbers) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), form, numbers...);
  return text.data();
}

}  // namespace

std::string percent_text(std::int64_t before, std::int64_t after) {
  const double more = before == 0 ? 0 : 100.0 * static_cast<double>(after - before) / static_cast<double>(before);
  return formatted("%+.1f %%", more);
}

std::vector<double> shares_of_loss(const std::vector<OpLoss>& losses, const std::vector<double>& misses) {
  const bool any = std::any_of(misses.begin(), misses.end(), [](double m) { return m > 1; });
  std::vector<double> out(losses.size(), 0.0);
  double outputs = 0;
  for (std::size_t o = 0; o < misses.size(); ++o) {
    double sum = 0;
    for (const OpLoss& op : losses)
      if (!op.effects.empty()) sum += op.effects[o];
    if ((any && misses[o] <= 1) || sum <= 0) continue;
    ++outputs;
    for (std::size_t i = 0; i < losses.size(); ++i)
      if (!losses[i].effects.empty()) out[i] += losses[i].effects[o] / sum;
  }
  for (double& share : out) share /= std::max(outputs, 1.0);
  return out;
}

void log_losses(const std::vector<OpLoss>& losses, const std::vector<double>& misses, Host& host) {
  const std::vector<double> shares = shares_of_loss(losses, misses);
  std::vector<std::size_t> sorted(losses.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  if (sorted.size() > kMaxListed) sorted.resize(kMaxListed);
  for (const std::size_t i : sorted)
    if (shares[i] > 0)
      host.log(1, cat("accuracy: op '", losses[i].name, "' (", losses[i].type, ") makes ", formatted("%.1f", 100 * shares[i]),
                      " % of the loss"));
}

void log_raised(const std::vector<RaisedOp>& raised, std::size_t ops, Host& host) {
  host.log(0,
           cat("accuracy: ", raised.size(), " of ", ops, ops == 1 ? " op" : " ops", raised.size() == 1 ? " is raised:" : " are raised:"));
  std::map<std::string, std::vector<std::string>> kinds;
  for (const RaisedOp& op : raised) kinds[op.raise.text()].push_back(op.name);
  for (auto& [kind, names] : kinds) {
    const std::size_t more = names.size() > kMaxNames ? names.size() - kMaxNames : 0;
    names.resize(names.size() - more);
    host.log(0, cat("accuracy:   ", kind, ": ", join(names, ", "), more == 0 ? "" : cat(" and ", more, " more")));
  }
}

std::string rules_text(const std::vector<io::Node>& rules) {
  if (rules.empty()) return "configure_mixed_precision: []\n";
  return cat("configure_mixed_precision:\n", io::yaml_block(io::Node::list(rules), 2, 4096));
}

}  // namespace buda::compiler
