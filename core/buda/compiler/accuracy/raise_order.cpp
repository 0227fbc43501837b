// The lower hull of each op's choices, merged.
#include <buda/compiler/accuracy/raise_order.hpp>

#include <algorithm>
#include <limits>

namespace buda::compiler {
namespace {

// Savings below this part of the op's loss are noise of the measurement.
constexpr double kMinSaved = 0.02;

struct RatedStep {
  RaiseStep step;
  double rate = 0;
};

void add_hull(std::size_t op, const std::vector<RaiseChoice>& choices, std::vector<RatedStep>& out) {
  std::size_t at = 0;
  for (;;) {
    std::size_t best = at;
    double rate = 0;
    for (std::size_t c = 1; c < choices.size(); ++c) {
      const double saved = choices[at].loss - choices[c].loss, more = choices[c].cost - choices[at].cost;
      if (saved <= kMinSaved * choices[0].loss || choices[c].loss >= choices[at].loss) continue;
      const double its = more > 0 ? saved / more : std::numeric_limits<double>::infinity();
      const bool better = its > rate || (its == rate && choices[c].loss < choices[best].loss);
      if (best == at || better) {
        best = c;
        rate = its;
      }
    }
    if (best == at) return;
    // Rates of one op do not rise, so that its steps stay in order.
    if (!out.empty() && out.back().step.op == op) rate = std::min(rate, out.back().rate);
    out.push_back({{op, best, choices[at].loss - choices[best].loss}, rate});
    at = best;
  }
}

}  // namespace

std::vector<RaiseStep> raise_steps(const std::vector<std::vector<RaiseChoice>>& ops) {
  std::vector<RatedStep> rated;
  for (std::size_t op = 0; op < ops.size(); ++op)
    if (!ops[op].empty()) add_hull(op, ops[op], rated);
  std::stable_sort(rated.begin(), rated.end(), [](const RatedStep& a, const RatedStep& b) { return a.rate > b.rate; });
  std::vector<RaiseStep> out;
  for (const RatedStep& r : rated) out.push_back(r.step);
  return out;
}

}  // namespace buda::compiler
