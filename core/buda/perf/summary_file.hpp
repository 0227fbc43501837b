// SPDX-License-Identifier: Apache-2.0
// summary.json, format buda.perf/1: the summary for programs (docs/formats/perf.md).
#pragma once

#include <buda/perf/summary.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Times are cycles, with what is left of them in sixteenths.
template <>
struct buda::schema::Codec<buda::perf::SimTime> {
  static void read(const io::Node& node, perf::SimTime& out, Reader& reader) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 53;  // whole cycles that a number of JSON can tell apart
    double cycles = 0;
    Codec<double>::read(node, cycles, reader);
    if (cycles < 0 || cycles > static_cast<double>(kMost)) return detail::out_of_range(node, 0, kMost, reader);
    out.ticks = static_cast<std::uint64_t>(cycles * static_cast<double>(perf::SimTime::kPerCycle) + 0.5);
  }
  static io::Node write(perf::SimTime value) { return io::Node::real(value.cycles()); }
  static io::Node json_schema() { return Codec<double>::json_schema(); }
};

namespace buda::perf {

// The summary with what follows from it.
struct SummaryFile {
  std::string arch;
  double clock_hz = 0;
  SimTime cycles, latency;
  std::int64_t inputs = 0, executed_inputs = 0;
  double inputs_per_second = 0;
  std::vector<EpochSummary> epochs;
  std::string netlist;         // name of its file, where it is known
  std::string netlist_digest;  // SHA-256 of its text, where it is known
};

SummaryFile summary_file(const Summary& summary);

const schema::Record<SummaryFile>& describe(const SummaryFile*);
const schema::Record<EpochSummary>& describe(const EpochSummary*);
const schema::Record<EpochSummary::Cause>& describe(const EpochSummary::Cause*);
const schema::Record<EpochSummary::Limit>& describe(const EpochSummary::Limit*);
const schema::Record<EpochSummary::Pipe>& describe(const EpochSummary::Pipe*);
const schema::Record<EpochSummary::Op>& describe(const EpochSummary::Op*);
const schema::Record<EpochSummary::Load>& describe(const EpochSummary::Load*);
const schema::EnumNames<EpochSummary::Cause::Kind>& describe_enum(const EpochSummary::Cause::Kind*);

}  // namespace buda::perf
