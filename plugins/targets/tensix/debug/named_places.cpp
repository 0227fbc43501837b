// SPDX-License-Identifier: Apache-2.0
// Lines of all kernels, and grids of all ops.
#include "named_places.hpp"

#include "kernel_lines.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace buda::tensix {
namespace {

// Numbers of the lines that made instructions, by file.
using LinesByFile = std::map<std::string, std::set<unsigned>, std::less<>>;

void add_lines(std::string_view chain, LinesByFile& to) {
  while (!chain.empty()) {
    const std::size_t end = std::min(chain.find(", "), chain.size());
    const std::string_view line = chain.substr(0, end);
    chain.remove_prefix(std::min(chain.size(), end + 2));
    const std::size_t colon = line.rfind(':');
    unsigned number = 0;
    if (colon == std::string_view::npos || std::from_chars(line.data() + colon + 1, line.data() + line.size(), number).ec != std::errc())
      continue;
    to[std::string(line.substr(0, colon))].insert(number);
  }
}

LinesByFile all_lines(const kernels::KernelSet& kernels) {
  LinesByFile all;
  for (const kernels::CompiledKernel& k : kernels.kernels)
    for (const KernelLines::Program& p : lines_of(k).programs)
      for (const std::string& chain : p.lines) add_lines(chain, all);
  return all;
}

Diagnostic no_such_line(const std::string& wanted, const LinesByFile& lines) {
  Diagnostic d = input_error("TX003", {}, cat("target.tensix.break=", wanted, ": no instruction of the kernels comes from this line"));
  const std::size_t colon = wanted.rfind(':');
  const auto file = lines.find(std::string_view(wanted).substr(0, colon));
  if (file == lines.end()) {
    std::string names;
    for (const auto& [name, numbers] : lines) names += cat(names.empty() ? "" : ", ", name);
    if (!names.empty()) d.hint = cat("instructions come from ", names);
    return d;
  }
  unsigned number = 0;
  std::from_chars(wanted.data() + colon + 1, wanted.data() + wanted.size(), number);
  const auto after = file->second.upper_bound(number);
  const std::string below = after == file->second.begin() ? std::string() : cat(*std::prev(after)),
                    above = after == file->second.end() ? std::string() : cat(*after);
  d.hint = cat("the nearest lines of ", file->first, " with instructions: ", below, below.empty() || above.empty() ? "" : " and ", above);
  return d;
}

}  // namespace

Result<void> check_named_places(const DebugSettings& settings, const netlist::Netlist& netlist, const kernels::KernelSet& kernels) {
  if (!settings.breaks.empty()) {
    const LinesByFile lines = all_lines(kernels);
    for (const std::string& wanted : settings.breaks) {
      const auto is_named = [&](const auto& file) {
        return std::any_of(file.second.begin(), file.second.end(),
                           [&](unsigned number) { return names_line(cat(file.first, ':', number), wanted); });
      };
      if (std::none_of(lines.begin(), lines.end(), is_named)) return no_such_line(wanted, lines);
    }
  }
  for (const GridCoord core : settings.cores) {
    const auto has = [&](const netlist::Op& op) { return core.row < op.grid.rows && core.col < op.grid.cols; };
    const auto any_has = [&](const netlist::Graph& graph) { return std::any_of(graph.ops.begin(), graph.ops.end(), has); };
    if (std::none_of(netlist.graphs.begin(), netlist.graphs.end(), any_has))
      return input_error(
          "TX003", {}, cat("target.tensix.trace-core=", core.row, '-', core.col, ": no op has a core in this row and column of its grid"));
  }
  return success();
}

}  // namespace buda::tensix
