// SPDX-License-Identifier: Apache-2.0
// A placement report as a table, a line for each op.
#include <buda/balance/emit/report.hpp>

#include <buda/balance/emit/report_summary.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <utility>

namespace buda::balance {
namespace {

std::string cell(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

std::vector<std::string> report_table(const PlacementReport& report) {
  std::size_t name = 2, graph = 5;
  for (const auto& e : report.epochs) {
    graph = std::max(graph, e.graph.size());
    for (const auto& op : e.ops) name = std::max(name, op.name.size());
  }
  auto row = [&](std::string g, std::string n, std::string type, std::string grid, std::string at, std::string l1, std::string cycles) {
    std::string line = cell(std::move(g), graph + 2) + cell(std::move(n), name + 2) + cell(std::move(type), 13) + cell(std::move(grid), 8) +
                       cell(std::move(at), 10) + cell(std::move(l1), 6) + std::move(cycles);
    return line;
  };
  std::vector<std::string> out{row("epoch", "op", "type", "grid", "at", "L1", "cycles")};
  for (const auto& e : report.epochs)
    for (const auto& op : e.ops) {
      const ReportUsage& l1 = op.resources.front();
      std::string share = l1.available == 0 ? "-" : cat(l1.used * 100 / l1.available, '%');
      out.push_back(row(e.graph, op.name, op.type, cat(op.grid.rows, 'x', op.grid.cols, op.transposed ? "^T" : ""),
                        cat('[', op.grid_loc.row, ", ", op.grid_loc.col, ']'), std::move(share), cat(op.cycles.limiter)));
    }
  for (std::string& line : report_summary(report)) out.push_back(std::move(line));
  return out;
}

}  // namespace buda::balance
