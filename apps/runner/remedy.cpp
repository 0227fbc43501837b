// SPDX-License-Identifier: Apache-2.0
// Runs in fp32 and with raised formats, compared like the first.
#include "apps/runner/remedy.hpp"

#include "apps/runner/expect.hpp"

#include <buda/base/text.hpp>
#include <buda/io/quiet_host.hpp>
#include <buda/tensor/check/compare.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace buda::runner {
namespace {

constexpr std::size_t kMaxNamed = 3;
constexpr double kNotable = 1e-5;  // of a correlation

std::string four_digits(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", v);
  return text.data();
}

void for_each_op(netlist::Netlist& netlist, const std::function<void(netlist::Op&)>& change) {
  for (netlist::Graph& graph : netlist.graphs)
    for (netlist::Op& op : graph.ops) change(op);
}

void most_faithful(netlist::Netlist& netlist) {
  for_each_op(netlist, [](netlist::Op& op) { op.fidelity = netlist::MathFidelity::hifi4; });
}

void accumulate_wide(netlist::Netlist& netlist) {
  for_each_op(netlist, [](netlist::Op& op) {
    if (!is_float(op.acc_format)) return;
    op.acc_format = DataFormat::float32;
    if (is_float(op.intermed_format)) op.intermed_format = DataFormat::float32;
  });
}

void for_each_format(netlist::Netlist& netlist, const std::function<void(DataFormat&)>& change) {
  for_each_op(netlist, [&](netlist::Op& op) {
    for (DataFormat* format : {&op.out_format, &op.intermed_format, &op.acc_format}) change(*format);
    for (netlist::OpInput& input : op.inputs) change(input.format);
  });
  for (netlist::Queue& queue : netlist.queues) change(queue.format);
}

void all_wide(netlist::Netlist& netlist) {
  for_each_format(netlist, [](DataFormat& format) {
    if (is_float(format)) format = DataFormat::float32;
  });
}

bool has_block_floats(const netlist::Netlist& netlist) {
  bool out = false;
  netlist::Netlist copy = netlist;
  for_each_format(copy, [&](DataFormat& format) { out = out || is_bfp(format); });
  return out;
}

// What they are by default.
void without_blocks(netlist::Netlist& netlist) {
  for_each_format(netlist, [](DataFormat& format) {
    if (is_bfp(format)) format = exponent_family(format) == ExponentFamily::a ? DataFormat::float16 : DataFormat::float16_b;
  });
  for_each_op(netlist, [](netlist::Op& op) { op.fidelity = std::max(op.fidelity, netlist::MathFidelity::hifi3); });
}

// What an op's results lack of a correlation of 1 with those in fp32; nothing where it is not defined.
std::map<std::string, double> lacks(const NamedTensors& in_fp32, const NamedTensors& in_formats) {
  std::map<std::string, double> out;
  for (const auto& [name, expected] : in_fp32) {
    const auto actual = in_formats.find(name);
    if (actual == in_formats.end()) continue;
    const auto comparison = compare(expected, actual->second, {.worst = 0});
    if (comparison && comparison->correlation.state == Correlation::State::defined) out[name] = 1 - comparison->correlation.value;
  }
  return out;
}

// The ops at which most is added to what their operands lack.
std::vector<std::string> worst_ops(const netlist::Netlist& netlist, const std::map<std::string, double>& lack) {
  struct Worse {
    double added = 0;
    std::string text;
  };
  std::vector<Worse> found;
  for (const netlist::Graph& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops) {
      const auto own = lack.find(op.name);
      if (own == lack.end()) continue;
      double before = 0;
      for (const netlist::OpInput& input : op.inputs)
        if (const auto its = lack.find(input.name); its != lack.end()) before = std::max(before, its->second);
      if (own->second - before < kNotable) continue;
      found.push_back({own->second - before, cat('\'', op.name, "' (", netlist::op_type_name(op.type), ", correlation with fp32 ",
                                                 four_digits(1 - own->second), ", of its operands ", four_digits(1 - before), ')')});
    }
  std::stable_sort(found.begin(), found.end(), [](const Worse& a, const Worse& b) { return a.added > b.added; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(found.size(), kMaxNamed); ++i) out.push_back(found[i].text);
  return out;
}

}  // namespace

std::vector<Remedy> remedies(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  using Change = void (*)(netlist::Netlist&);
  struct Step {
    std::string options;
    std::vector<Change> changes;
  };
  std::vector<Step> steps = {{"", {}}, {"--default-math-fidelity HiFi4", {most_faithful}}};
  if (device.features.fp32_accumulate && device.supports(DataFormat::float32)) {
    steps.push_back({"--default-accumulate-df Float32", {accumulate_wide}});
    steps.push_back({"--default-accumulate-df Float32 --default-math-fidelity HiFi4", {accumulate_wide, most_faithful}});
    steps.push_back({"--default-df Float32", {all_wide}});
    steps.push_back({"--default-df Float32 --default-math-fidelity HiFi4", {all_wide, most_faithful}});
  }
  // Options of mixed precision that ask for block floating point have the last word over those of all ops.
  const bool blocks = has_block_floats(netlist);
  std::vector<Remedy> out;
  std::vector<netlist::Netlist> seen = {netlist};
  for (const Step& step : steps) {
    auto change = [changes = step.changes, blocks](netlist::Netlist& n) {
      if (blocks) without_blocks(n);
      for (const Change each : changes) each(n);
    };
    netlist::Netlist changed = netlist;
    change(changed);
    if (std::find(seen.begin(), seen.end(), changed) != seen.end()) continue;
    seen.push_back(std::move(changed));
    const std::string without = blocks ? "without options and rules that ask for block floating point (--amp-level, --amp-light)" : "";
    const std::string with = step.options.empty() ? "" : cat("with ", step.options);
    out.push_back({cat(without, without.empty() || with.empty() ? "" : ", and ", with), change});
  }
  return out;
}

void tell_remedies(const Options& o, const NamedTensors& expected, const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                   const std::function<Result<RerunResults>(const Rerun&)>& rerun, Host& host) {
  QuietHost quiet(host);
  auto is_as_expected = [&](const NamedTensors& outputs) { return compare_outputs(o, expected, outputs, {}, quiet).ok(); };
  host.progress("looking for what would mend it", 0, 0);
  const auto in_fp32 = rerun({.fp32 = true, .with_ops = true});
  if (!in_fp32) return;
  if (!is_as_expected(in_fp32->outputs)) {
    host.report(note("RN009", {}, "without data formats, in fp32, the outputs are not as expected either: formats are not the reason"));
    return;
  }
  if (const auto in_formats = rerun({.with_ops = true})) {
    const auto worst = worst_ops(netlist, lacks(in_fp32->ops, in_formats->ops));
    if (!worst.empty()) host.report(note("RN009", {}, cat("in fp32 the outputs are as expected; accuracy is lost by ", join(worst, ", "))));
  }
  const std::string chosen = cat("buda compile chooses what it takes with --accuracy ", o.pcc ? four_digits(*o.pcc) : "0.99",
                                 " --calibrate INPUTS, the inputs of this run");
  for (const Remedy& remedy : remedies(netlist, device)) {
    const auto tried = rerun({.change = remedy.change});
    if (!tried || !is_as_expected(tried->outputs)) continue;
    Diagnostic d = note("RN010", {}, cat("tried on this netlist: compiled ", remedy.options, " the outputs are as expected"));
    d.hint = chosen;
    host.report(d);
    return;
  }
  host.report(note("RN010", {}, cat("tried on this netlist: no format, fidelity or accumulation for all ops gives the expected outputs")));
}

}  // namespace buda::runner
