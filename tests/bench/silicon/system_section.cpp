// SPDX-License-Identifier: Apache-2.0
// Markdown of predictions beside measurements that are not of single ops.
#include "system_section.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace buda::silicon {
namespace {

constexpr std::size_t kWorstRows = 10;

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string trace_rows(const std::vector<TraceTime>& times) {
  std::string out = "| trace | measured cycles | predicted | error % |\n|---|--:|--:|--:|\n";
  for (const TraceTime& t : times)
    out += cat("| ", t.name, " | ", std::llround(t.measured), " | ", std::llround(t.predicted), " | ", rounded(t.error()), " |\n");
  return out;
}

std::string networks(const SystemResults& r) {
  const TraceErrors e = errors_of(r.traces);
  return cat(
      "## Networks\n"
      "\n"
      "Traces of reads on Wormhole's networks (tt-npe), replayed on the simulator's model of networks and DRAM. Of a trace only the starts "
      "of\n"
      "the kernels, the order of their requests and barriers, and the sizes are used; what it costs to issue a request is a constant of "
      "the traced\n"
      "kernel.\n"
      "\n"
      "| model | traces | mean % | median % | p90 % | worst % | goal |\n|---|--:|--:|--:|--:|--:|---|\n| as shipped | ",
      r.traces.size(), " | ", rounded(e.mean), " | ", rounded(e.median), " | ", rounded(e.p90), " | ", rounded(e.max),
      " | median 5, p90 12, worst 20", e.reached() ? "" : ", missed", " |\n| without links | ", r.traces.size(), " | ",
      rounded(r.without_links.mean), " | ", rounded(r.without_links.median), " | ", rounded(r.without_links.p90), " | ",
      rounded(r.without_links.max), " | mean at least 15 |\n| without contention | ", r.traces.size(), " | ",
      rounded(r.without_contention.mean), " | ", rounded(r.without_contention.median), " | ", rounded(r.without_contention.p90), " | ",
      rounded(r.without_contention.max), " | mean at least 40 |\n\nThe ten worst:\n\n", trace_rows(worst_traces(r.traces, kWorstRows)),
      "\n");
}

std::string memories(const SystemResults& r) {
  return cat(
      "## DRAM\n"
      "\n"
      "Twelve cores, each with one half of a channel of Wormhole, read or write without end (tt-isa-documentation). Random cores are the "
      "mean of\n"
      "200 draws. How the measured programs issued their requests is not known; here each core has 16 of 2 KiB under way.\n"
      "\n",
      placement_table(r.placement),
      "\nA transfer that waits at a router holds back those behind it on the same virtual channel (head-of-line blocking). The measured "
      "writes\n"
      "use one channel, as streams do; answers of reads are spread over four. Nothing of this was fitted.\n"
      "\n");
}

std::string netlists(const SystemResults& r) {
  return cat(
      "## Netlists\n"
      "\n"
      "Netlists of TT-Buda whose section `performance-check` has what its tests expected of silicon, executed by target `grid`.\n"
      "\n",
      rate_table(r.netlists),
      "\n`output-bw` is the host's rate of Grayskull itself, and Blackhole has no measured kernels of its "
      "own: neither is\n"
      "evidence, nor has a goal. `math-utilization` is taken of the kernel's time, without waits.\n"
      "`netlist_encoder_device_tilize` is predicted too fast, because its epoch is limited by a fused op, and its tilizer by an assumed "
      "row: there are\n"
      "no public measurements of either.\n"
      "\n");
}

std::string products(const SystemResults& r) {
  std::vector<Gemm> rows = r.gemms;
  std::stable_sort(rows.begin(), rows.end(), [](const Gemm& a, const Gemm& b) { return std::abs(a.error()) > std::abs(b.error()); });
  rows.resize(std::min(rows.size(), kWorstRows));
  return cat(
      "## Products on 64 cores\n"
      "\n"
      "Matrix products of tt-metal on an n150: utilisation of the matrix units during the device's part of the time. The blockings are "
      "not recorded;\n"
      "each product is predicted with the fastest one that fits, and takes what its kernels, its reads from DRAM or what its cores "
      "receive takes,\n"
      "whichever is longest. Within 25 %: ",
      std::lround(part_within(r.gemms) * static_cast<double>(r.gemms.size())), " of ", r.gemms.size(), " rows, goal two thirds",
      part_within(r.gemms) * 3 >= 2 ? "" : ", missed",
      ". Products of\n512 and 1024 are predicted too fast: in their few microseconds the chips also start kernels and fill pipelines, "
      "which "
      "kernels that were measured\nover many inputs do not show.\n\nThe ten worst:\n\n",
      gemm_table(rows), "\n");
}

std::string unknown(const SystemResults& r) {
  return cat(
      "## Unknown parameters\n"
      "\n"
      "What no public measurement tells, and what the predictions become when it is a quarter smaller or larger.\n"
      "\n",
      r.network_sensitivity, "\n", r.netlist_sensitivity, "\n");
}

}  // namespace

std::string system_text(const SystemResults& results) {
  return cat(networks(results), memories(results), netlists(results), products(results),
             "![Errors of networks, DRAM, netlists and products](silicon-system.svg)\n\n"
             "Horizontal axes: cycles, for DRAM GB/s; vertical axes: error of the prediction in per cent.\n\n",
             unknown(results));
}

std::vector<Panel> system_panels(const SystemResults& results) {
  Panel traces{"networks, traces: cycles", {}, 3, 5}, memory{"DRAM, by placement: GB/s", {}, 1, 3},
      rates{"netlists: cycles of an input", {}, 3, 6}, products{"products on 64 cores: cycles", {}, 3, 9};
  for (const TraceTime& t : results.traces) traces.points.emplace_back(t.measured, t.error());
  for (const PlacementSpeed& s : results.placement) memory.points.emplace_back(s.measured, s.error());
  for (const NetlistRate& n : results.netlists)
    if (n.expected.metric == "cycles-per-tensor") rates.points.emplace_back(n.expected.value, n.error());
  for (const Gemm& g : results.gemms) products.points.emplace_back(g.cycles, g.error());
  return {traces, memory, rates, products};
}

}  // namespace buda::silicon
