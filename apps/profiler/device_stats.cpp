// SPDX-License-Identifier: Apache-2.0
// Durations between markers, and tables of them.
#include "apps/profiler/device_stats.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

namespace buda::profiler {
namespace {

std::vector<std::uint64_t> kernel_cycles(const RiscLog& log) {
  std::vector<std::uint64_t> out;
  for (std::size_t r = 0; r < log.starts.size(); ++r) {
    const Stamp *begin = find_marker(log.run(r), kKernelStart), *end = find_marker(log.run(r), kKernelEnd);
    if (begin != nullptr && end != nullptr) out.push_back(end->cycle - begin->cycle);
  }
  return out;
}

void widen(Execution& all, const Execution& one) {
  all.firmware_begin = std::min(all.firmware_begin, one.firmware_begin);
  all.firmware_end = std::max(all.firmware_end, one.firmware_end);
  all.kernel_begin = std::min(all.kernel_begin, one.kernel_begin);
  all.kernel_end = std::max(all.kernel_end, one.kernel_end);
}

// By chip, and begin and end of the firmware: all runs of firmware from the one time to the other, as those of the cores of an execution.
using Runs = std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Execution>;

// The runs of a RISC follow one another in the table, too.
void add_runs(std::uint64_t chip, const RiscLog& risc, Runs& runs) {
  auto next = runs.end();
  for (std::size_t r = 0; r < risc.starts.size(); ++r) {
    const auto run = risc.run(r);
    const Stamp *begin = find_marker(run, kFirmwareStart), *end = find_marker(run, kFirmwareEnd);
    const Stamp *kernel = find_marker(run, kKernelStart), *kernel_end = find_marker(run, kKernelEnd);
    if (begin == nullptr || end == nullptr || kernel == nullptr || kernel_end == nullptr) continue;
    const Execution one{chip, begin->cycle, end->cycle, kernel->cycle, kernel_end->cycle};
    const Runs::key_type key{chip, one.firmware_begin, one.firmware_end};
    if (next == runs.end() || next->first != key) next = runs.try_emplace(key, one).first;
    widen(next->second, one);
    ++next;
  }
}

constexpr std::size_t kNameWidth = 40, kWidth = 14;

std::string row(std::string_view name, const std::vector<std::string>& fields) {
  std::string out(name);
  out.resize(std::max(out.size(), kNameWidth), ' ');
  for (const std::string& field : fields) out += std::string(field.size() < kWidth ? kWidth - field.size() : 1, ' ') + field;
  return out + '\n';
}

std::string table(const std::vector<Analysis>& analyses, double clock_hz) {
  std::vector<std::string> heading = {"count", "average", "median", "least", "most", "sum"};
  if (clock_hz > 0) heading.push_back("average ns");
  std::string out = row("cycles", heading);
  for (const Analysis& a : analyses) {
    const Figures& f = a.cycles;
    std::vector<std::string> fields = {cat(f.count), figure_text(f.average), figure_text(f.median), cat(f.least),
                                       cat(f.most),  figure_text(f.sum)};
    if (clock_hz > 0) fields.push_back(figure_text(f.average / clock_hz * 1e9));
    out += row(a.what, fields);
  }
  return out;
}

void add_riscs(std::vector<Analysis>& out, std::span<const CoreLog> cores, const ZoneNames& zones) {
  for (std::size_t r = 0; r < kRiscs.size(); ++r) {
    std::vector<std::uint64_t> durations;
    for (const CoreLog& core : cores) {
      const auto more = kernel_cycles(core.riscs[r]);
      durations.insert(durations.end(), more.begin(), more.end());
    }
    if (!durations.empty()) out.push_back({cat(kRiscs[r], " kernel"), figures_of(std::move(durations))});
    for (const ZoneName& zone : zones) {
      std::vector<std::uint64_t> lengths;
      for (const CoreLog& core : cores)
        for (const ZoneTime& time : times_of(zone, core.riscs[r])) lengths.push_back(time.end - time.begin);
      if (!lengths.empty()) out.push_back({cat(kRiscs[r], " zone ", zone.name), figures_of(std::move(lengths))});
    }
  }
}

using Counts = std::map<std::uint32_t, std::size_t>;
using Occurrences = std::map<std::uint32_t, std::vector<std::uint64_t>>;

// The cycles of a run by marker.
Occurrences by_marker(std::span<const Stamp> run) {
  Occurrences out;
  for (const Stamp& stamp : run) out[stamp.marker].push_back(stamp.cycle);
  return out;
}

}  // namespace

std::string figure_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, value == std::floor(value) ? "%.0f" : "%.1f", value);
  return text;
}

std::vector<Execution> executions_of(const DeviceLog& log) {
  Runs runs;
  for (const CoreLog& core : log.cores)
    for (const RiscLog& risc : core.riscs) add_runs(core.chip, risc, runs);
  std::vector<Execution> out;
  for (const auto& [key, run] : runs) {
    // Executions that follow one another at once share a cycle.
    const bool is_new = out.empty() || run.chip != out.back().chip ||
                        (run.firmware_begin >= out.back().firmware_end && run.firmware_begin != out.back().firmware_begin);
    if (is_new) {
      out.push_back(run);
    } else {
      widen(out.back(), run);
    }
  }
  return out;
}

Figures figures_of(std::vector<std::uint64_t> durations) {
  Figures out;
  out.count = durations.size();
  if (durations.empty()) return out;
  const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
  out.least = *least;
  out.most = *most;
  for (const std::uint64_t d : durations) out.sum += static_cast<double>(d);
  out.average = out.sum / static_cast<double>(out.count);
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(out.count / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  out.median = static_cast<double>(*middle);
  if (out.count % 2 == 0) out.median = (out.median + static_cast<double>(*std::max_element(durations.begin(), middle))) / 2;
  return out;
}

std::vector<Analysis> analyses_of(const DeviceLog& log, const ZoneNames& zones) {
  std::vector<std::uint64_t> firmware, kernel;
  for (const Execution& e : executions_of(log)) {
    firmware.push_back(e.firmware_end - e.firmware_begin);
    kernel.push_back(e.kernel_end - e.kernel_begin);
  }
  std::vector<Analysis> out = {{"firmware, first start to last end", figures_of(std::move(firmware))},
                               {"kernel, first start to last end", figures_of(std::move(kernel))}};
  add_riscs(out, log.cores, zones);
  return out;
}

std::vector<Analysis> analyses_of(const CoreLog& core, const ZoneNames& zones) {
  std::vector<Analysis> out;
  add_riscs(out, std::span(&core, 1), zones);
  return out;
}

std::string stats_text(const DeviceLog& log, const ZoneNames& zones, const std::vector<Analysis>& all) {
  std::string out = cat("cores: ", log.cores.size(), ", executions: ", all.front().cycles.count);
  if (log.clock_hz > 0) out += cat(", clock: ", figure_text(log.clock_hz / 1e6), " MHz");
  out += "\n\nall cores\n" + table(all, log.clock_hz);
  for (const CoreLog& core : log.cores)
    out += cat("\nchip ", core.chip, ", core ", core.x, "-", core.y, '\n', table(analyses_of(core, zones), log.clock_hz));
  return out;
}

std::string timestamps_csv(const DeviceLog& log) {
  // By RISC and run: the most times of each marker on a core.
  std::array<std::vector<Counts>, kRiscs.size()> columns;
  std::array<std::set<std::uint32_t>, kRiscs.size()> markers;
  for (const CoreLog& core : log.cores)
    for (std::size_t risc = 0; risc < kRiscs.size(); ++risc) {
      const RiscLog& times = core.riscs[risc];
      columns[risc].resize(std::max(columns[risc].size(), times.starts.size()));
      for (const Stamp& stamp : times.stamps) markers[risc].insert(stamp.marker);
      for (std::size_t r = 0; r < times.starts.size(); ++r)
        for (const auto& [marker, cycles] : by_marker(times.run(r))) {
          std::size_t& most = columns[risc][r][marker];
          most = std::max(most, cycles.size());
        }
    }
  std::string out = "chip,core_x,core_y";
  for (std::size_t risc = 0; risc < kRiscs.size(); ++risc)
    for (std::size_t r = 0; r < columns[risc].size(); ++r)
      for (const std::uint32_t marker : markers[risc]) {
        std::size_t& count = columns[risc][r][marker];
        count = std::max<std::size_t>(count, 1);
        for (std::size_t n = 0; n < count; ++n)
          out += cat(',', kRiscs[risc], ' ', marker, " run ", r, n == 0 ? std::string() : cat(" time ", n + 1));
      }
  out += '\n';
  for (const CoreLog& core : log.cores) {
    out += cat(core.chip, ',', core.x, ',', core.y);
    for (std::size_t risc = 0; risc < kRiscs.size(); ++risc) {
      const RiscLog& times = core.riscs[risc];
      for (std::size_t r = 0; r < columns[risc].size(); ++r) {
        const auto cycles = r < times.starts.size() ? by_marker(times.run(r)) : Occurrences();
        for (const auto& [marker, count] : columns[risc][r]) {
          const auto found = cycles.find(marker);
          for (std::size_t n = 0; n < count; ++n) {
            out += ',';
            if (found != cycles.end() && n < found->second.size()) append_text(out, found->second[n]);
          }
        }
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace buda::profiler
