// SPDX-License-Identifier: Apache-2.0
// Which seeds of a short run fail still: a list that may only shrink.
#pragma once

#include "verdict.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace buda::trial {

// Seeds by run: "n150 exact".
using Failing = std::map<std::string, std::set<std::uint64_t>>;

Failing failing_of(const std::vector<Verdict>& verdicts);

// A file with a line for each run, "n150 exact: 3 17 42"; lines that begin with # say nothing.
Failing read_failing(const std::string& text);
std::string failing_text(const Failing& failing);

// What is in `a` and not in `b`.
Failing without(const Failing& a, const Failing& b);

}  // namespace buda::trial
