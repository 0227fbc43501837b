// SPDX-License-Identifier: Apache-2.0
// The table, by name.
#include <buda/schema/absent_option.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <iterator>

namespace buda::schema {
namespace {

struct Absent {
  std::string_view name, reason;
};

constexpr std::string_view kBuildDir = "'buda compile --build-dir DIR' keeps the files of all stages";
constexpr std::string_view kFeedsSilicon =
    "it chooses among ways in which TT-Buda's runtime feeds silicon; options of a target are --set target.NAME.OPTION=VALUE";
constexpr std::string_view kGraphFile = "importer writes the graph to a file, which can be kept and edited";

constexpr Absent kAbsent[] = {
    {"backend_opt_level", kFeedsSilicon},
    {"backend_output_dir", kBuildDir},
    {"backend_runtime_args", kFeedsSilicon},
    {"backend_runtime_params_path", "what TT-Buda reads from that file is in the device descriptor, --device FILE"},
    {"device_mode", "'buda compile' compiles, and 'buda run' runs"},
    {"performance_trace", "'buda run --perf DIR' measures, and --perf-level says how much"},
    {"place_queue_to_chip_dram", "queue.NAME.dram=[CHIP,CHANNEL] does the same for one queue"},
    {"store_backend_db_to_yaml", kBuildDir},
    {"tvm_graph_load_path", kGraphFile},
    {"tvm_graph_store_path", kGraphFile},
};

}  // namespace

std::optional<std::string> absent_option(std::string_view name) {
  std::string key(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  // A map's keys follow the name.
  key = key.substr(0, key.find('.'));
  std::replace(key.begin(), key.end(), '-', '_');
  const auto* found = std::find_if(std::begin(kAbsent), std::end(kAbsent), [&](const Absent& option) { return option.name == key; });
  if (found == std::end(kAbsent)) return std::nullopt;
  return cat("PyBuda's option '", name, "' is not there: ", found->reason);
}

}  // namespace buda::schema
