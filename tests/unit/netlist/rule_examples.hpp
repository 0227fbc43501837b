// SPDX-License-Identifier: Apache-2.0
// The examples that break the rules of netlists, from rule_examples.txt.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace buda::netlist::samples {

struct RuleExample {
  std::string code;
  std::string base;                                          // of share/examples/netlists
  std::string device = "wormhole_b0";                        // what it is judged on, with two chips if it is a full grid
  std::vector<std::string> also;                             // codes that may come along
  std::vector<std::pair<std::string, std::string>> changes;  // text of the base, and what stands there instead
};

// Empty when the sources are not at hand.
std::vector<RuleExample> rule_examples();

// The netlist: the base with all changes made. `line` and `column` become the place of the mark, or 0 without one.
std::string rule_example_text(const RuleExample& example, std::size_t& line, std::size_t& column);

}  // namespace buda::netlist::samples
