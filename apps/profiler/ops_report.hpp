// SPDX-License-Identifier: Apache-2.0
// ops_perf_results.csv: a row for each op in each execution.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::profiler {

struct OpCall {
  std::uint64_t number = 0;  // GLOBAL CALL COUNT
  std::string attributes;
  std::uint64_t begin = 0, end = 0;  // cycles of the firmware
};

struct OpCalls {
  std::string code;
  std::vector<OpCall> calls;
  double kernel_ns = 0;  // of all calls
};

struct OpsReport {
  std::vector<OpCalls> ops;  // in the order of their first calls
};

// PF005: a column is missing, a row has other fields than the heading, or a number is none.
Result<OpsReport> parse_ops_report(std::string_view text, const std::string& path);

}  // namespace buda::profiler
