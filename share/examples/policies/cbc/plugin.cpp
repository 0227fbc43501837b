// SPDX-License-Identifier: Apache-2.0
// A policy that asks an integer program which ops make an epoch, and with which implementations.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <memory>

namespace {

using namespace buda;

struct Candidate {
  std::size_t op;  // of the window
  const balance::OpModel* model;
};

// Implementations than which none is both smaller and faster, for a window of ops; models() begins with the smallest.
std::vector<Candidate> candidates(const balance::Placement& placement, std::span<const balance::OpId> window) {
  std::vector<Candidate> out;
  for (std::size_t k = 0; k < window.size(); ++k) {
    double fastest = 1e300;
    for (const balance::OpModel& m : placement.space().models_of(window[k]))
      if (m.cycles < fastest) out.push_back({k, &m}), fastest = m.cycles;
  }
  return out;
}

// min T - gain, where T is the slowest op's cycles, and an op's gain twice the time that its least work takes on all cores: the first ops
// of the window, none left out between them, each with one implementation, on no more cores than there are.
std::vector<Candidate> best_epoch(const balance::Placement& placement, std::span<const balance::OpId> window) {
  const auto all = candidates(placement, window);
  const auto cores = static_cast<double>(placement.space().device().grid().volume());
  std::vector<double> gain(window.size(), 1e300);
  for (const Candidate& c : all) gain[c.op] = std::min(gain[c.op], 2 * c.model->cycles * static_cast<double>(c.model->cores()) / cores);
  const std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> mip(Cbc_newModel(), Cbc_deleteModel);
  Cbc_setLogLevel(mip.get(), 0);
  Cbc_setMaximumNodes(mip.get(), 500);  // a budget that counts nodes gives the same plan everywhere
  Cbc_addCol(mip.get(), "T", 0, 1e12, 1, 0, 0, nullptr, nullptr);
  std::vector<int> columns;
  std::vector<double> areas;
  std::vector<std::vector<int>> of_op(window.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    Cbc_addCol(mip.get(), "x", 0, 1, -gain[all[i].op], 1, 0, nullptr, nullptr);
    columns.push_back(static_cast<int>(i) + 1);
    areas.push_back(static_cast<double>(all[i].model->cores()));
    of_op[all[i].op].push_back(columns.back());
  }
  Cbc_addRow(mip.get(), "cores", static_cast<int>(columns.size()), columns.data(), areas.data(), 'L', cores);
  for (std::size_t k = 0; k < window.size(); ++k) {
    std::vector<int> row = of_op[k];
    std::vector<double> chosen(row.size(), 1), cycles(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) cycles[i] = all[static_cast<std::size_t>(row[i]) - 1].model->cycles;
    row.push_back(0), cycles.push_back(-1);
    Cbc_addRow(mip.get(), "slowest", static_cast<int>(row.size()), row.data(), cycles.data(), 'L', 0);
    row.pop_back();
    if (k > 0) row.insert(row.end(), of_op[k - 1].begin(), of_op[k - 1].end()), chosen.resize(row.size(), -1);
    Cbc_addRow(mip.get(), "chosen", static_cast<int>(row.size()), row.data(), chosen.data(), k == 0 ? 'E' : 'L', k == 0 ? 1 : 0);
    if (k > 0) Cbc_addRow(mip.get(), "once", static_cast<int>(of_op[k].size()), of_op[k].data(), chosen.data(), 'L', 1);
  }
  std::vector<Candidate> out;
  Cbc_solve(mip.get());
  const double* x = Cbc_getColSolution(mip.get());
  for (std::size_t i = 0; x != nullptr && i < all.size(); ++i)
    if (x[i + 1] > 0.5) out.push_back(all[i]);
  return out;
}

class CbcPolicy final : public balance::Policy {
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    constexpr std::size_t kWindow = 16;
    const std::vector<balance::OpId>& schedule = placement.schedule();
    for (std::size_t next = 0; next < schedule.size();) {
      const auto window = std::span(schedule).subspan(next, std::min(kWindow, schedule.size() - next));
      placement.next_epoch();
      for (const Candidate& c : best_epoch(placement, window)) {
        if (!placement.place(window[c.op], *c.model)) break;  // neighbours object, or rectangles do not go together: the next epoch's
        ++next;
      }
      if (!placement.in_epoch().empty()) continue;
      BUDA_TRY(placement.place_best(window[0], [](const auto& a, const auto& b) { return a.cycles < b.cycles; }));
      ++next;
    }
    return placement.choice();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "cbc", .version = "0.1", .description = "a policy that solves integer programs", .license = "Apache-2.0") {
  registrar.add_policy({.name = "cbc",
                        .summary = "epochs and implementations by integer programs, epoch by epoch",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<CbcPolicy>());
                        }});
}
