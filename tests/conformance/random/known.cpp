// SPDX-License-Identifier: Apache-2.0
// Lists of failing seeds.
#include "known.hpp"

#include <buda/base/text.hpp>

#include <sstream>

namespace buda::trial {

Failing failing_of(const std::vector<Verdict>& verdicts) {
  Failing out;
  for (const Verdict& v : verdicts)
    for (const Finding& f : v.findings) out[run_of(f.kind)].insert(v.seed);
  return out;
}

Failing read_failing(const std::string& text) {
  Failing out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("#") || colon == std::string::npos) continue;
    std::istringstream seeds(line.substr(colon + 1));
    for (std::uint64_t seed = 0; seeds >> seed;) out[line.substr(0, colon)].insert(seed);
  }
  return out;
}

std::string failing_text(const Failing& failing) {
  std::string out;
  for (const auto& [run, seeds] : failing)
    if (!seeds.empty()) out += cat(run, ": ", join(seeds, " "), "\n");
  return out;
}

Failing without(const Failing& a, const Failing& b) {
  Failing out;
  for (const auto& [run, seeds] : a) {
    const auto others = b.find(run);
    for (const std::uint64_t seed : seeds)
      if (others == b.end() || !others->second.contains(seed)) out[run].insert(seed);
  }
  return out;
}

}  // namespace buda::trial
