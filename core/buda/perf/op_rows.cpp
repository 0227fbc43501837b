// SPDX-License-Identifier: Apache-2.0
// Cores of an op are one row.
#include <buda/perf/op_rows.hpp>

#include <algorithm>

namespace buda::perf {

std::vector<OpRow> rows_of(const Execution& execution) {
  std::vector<OpRow> out;
  std::map<std::string, std::size_t> index;
  for (const CoreRun& core : execution.cores) {
    auto [it, fresh] = index.try_emplace(core.op->name, out.size());
    if (fresh) out.push_back({core.op->name, 0, {}});
    OpRow& row = out[it->second];
    ++row.cores;
    for (const InputRun& in : core.inputs) {
      auto [bar, first] = row.bars.try_emplace(in.input, Bar{in.input, in.input, in.begin, in.end, 0, 0});
      bar->second.begin = std::min(bar->second.begin, in.begin);
      bar->second.end = std::max(bar->second.end, in.end);
      bar->second.work += static_cast<double>(in.work.ticks);
      ++bar->second.cores;
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const OpRow& a, const OpRow& b) { return a.bars.begin()->second.begin < b.bars.begin()->second.begin; });
  return out;
}

std::vector<Bar> drawn_bars(const OpRow& row, double ticks_per_pixel) {
  std::vector<Bar> out;
  for (const auto& [input, bar] : row.bars) {
    if (!out.empty() && static_cast<double>(bar.end.ticks - out.back().begin.ticks) < 2 * ticks_per_pixel) {
      out.back().last = bar.last;
      out.back().end = std::max(out.back().end, bar.end);
      out.back().work += bar.work;
    } else {
      out.push_back(bar);
    }
  }
  return out;
}

double work_share(const Bar& bar) {
  const double span = static_cast<double>(bar.end.ticks - bar.begin.ticks) * static_cast<double>(bar.cores);
  return span <= 0 ? 0 : std::min(bar.work / span, 1.0);
}

}  // namespace buda::perf
