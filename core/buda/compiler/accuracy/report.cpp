// Lines and YAML.
#include <buda/compiler/accuracy/report.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

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

void log_losses(const std::vector<OpLoss>& losses, Host& host) {
  std::vector<const OpLoss*> sorted;
  double total = 0;
  for (const OpLoss& op : losses) {
    sorted.push_back(&op);
    total += op.loss;
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const OpLoss* a, const OpLoss* b) { return a->loss > b->loss; });
  if (sorted.size() > kMaxListed) sorted.resize(kMaxListed);
  for (const OpLoss* op : sorted)
    if (op->loss > 0)
      host.log(1,
               cat("accuracy: op '", op->name, "' (", op->type, ") makes ", formatted("%.1f", 100 * op->loss / total), " % of the loss"));
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
