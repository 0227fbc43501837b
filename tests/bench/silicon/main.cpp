// SPDX-License-Identifier: Apache-2.0
// Predicted times against measurements of silicon (docs/conformance/silicon.md); `silicon --help` lists the commands.
#include "costs_section.hpp"
#include "drawing.hpp"
#include "fits.hpp"
#include "gemm.hpp"
#include "kernel_times.hpp"
#include "measurements.hpp"
#include "netlist_rates.hpp"
#include "noc_traces.hpp"
#include "page.hpp"
#include "placement.hpp"
#include "sensitivity.hpp"
#include "system_section.hpp"
#include "table.hpp"
#include "through_sim.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace buda::silicon {
namespace {

constexpr const char* kWormhole = "wormhole_b0";
constexpr double kWithoutLinks = 15, kWithoutContention = 40;  // mean errors, per cent, that leaving them out has to cause

std::set<std::string> archs_of(const std::vector<Measurement>& measurements) {
  std::set<std::string> out;
  for (const Measurement& m : measurements) out.insert(m.arch);
  return out;
}

void print(const std::vector<Prediction>& predictions) {
  std::printf("%s\n%s\n%s", class_table(classes_of(predictions)).c_str(), file_table(predictions).c_str(),
              worst_table(predictions).c_str());
}

Result<int> fit(Host& host, const std::vector<Measurement>& measurements) {
  std::vector<Prediction> predictions;
  for (const std::string& arch : archs_of(measurements)) {
    BUDA_ASSIGN(device::DeviceDescriptor device, device::load_device(host, arch));
    Fit found = fit_rows(measurements, arch);
    const std::string path = cat(host.share_dir, "/devices/", arch, ".yaml");
    BUDA_ASSIGN(io::Bytes file, host.fs().read(path));
    // A file system refuses to overwrite what was read through it; here that is the purpose.
    BUDA_TRY(io::make_real_file_system()->write(path, with_rows(std::string(file.view()), device.cost, found.rows)));
    predictions.insert(predictions.end(), found.predictions.begin(), found.predictions.end());
  }
  print(predictions);
  return 0;
}

Result<int> ops(Host& host, const std::vector<Measurement>& measurements) {
  std::vector<Prediction> predictions;
  for (const std::string& arch : archs_of(measurements)) {
    BUDA_ASSIGN(device::DeviceDescriptor device, device::load_device(host, arch));
    for (const Measurement& m : measurements)
      if (m.arch == arch) predictions.push_back({&m, cost::kernel_cycles(m.op, nullptr, device, m.counts ? &*m.counts : nullptr).total});
  }
  print(predictions);
  auto classes = classes_of(predictions);
  return std::all_of(classes.begin(), classes.end(), [](const ClassErrors& c) { return c.reached(); }) ? 0 : 1;
}

// By fits that had not seen them, of all architectures.
std::vector<Prediction> held_out(const std::vector<Measurement>& measurements) {
  std::vector<Prediction> out;
  for (const std::string& arch : archs_of(measurements)) {
    const Fit found = fit_rows(measurements, arch);
    out.insert(out.end(), found.predictions.begin(), found.predictions.end());
  }
  return out;
}

// Takes every so manieth through the simulator.
Result<Simulated> simulate(Host& host, const std::vector<Measurement>& measurements, const std::vector<Prediction>& predictions,
                           std::size_t every) {
  Simulated out;
  for (const std::string& arch : archs_of(measurements)) {
    BUDA_ASSIGN(device::DeviceDescriptor device, device::load_device(host, arch));
    std::vector<Prediction> some;
    for (std::size_t i = 0; i < predictions.size(); i += every)
      if (predictions[i].measured->arch == arch) some.push_back(predictions[i]);
    Simulated one = through_simulator(host, std::move(device), some);
    out.predictions.insert(out.predictions.end(), one.predictions.begin(), one.predictions.end());
    out.added.insert(out.added.end(), one.added.begin(), one.added.end());
    out.left_out.insert(out.left_out.end(), one.left_out.begin(), one.left_out.end());
  }
  return out;
}

Result<int> sim(Host& host, const std::vector<Measurement>& measurements, std::size_t every) {
  BUDA_ASSIGN(const Simulated simulated, simulate(host, measurements, held_out(measurements), every));
  print(simulated.predictions);
  std::printf("\n%s", feed_table(simulated).c_str());
  for (const std::string& text : simulated.left_out) std::printf("left out: %s\n", text.c_str());
  auto classes = classes_of(simulated.predictions);
  return std::all_of(classes.begin(), classes.end(), [](const ClassErrors& c) { return c.reached(); }) ? 0 : 1;
}

// Other kernels than the measured ones: what has to agree is the order.
Result<int> kernels(Host& host, const std::vector<Measurement>& measurements, std::size_t every) {
  constexpr double kGoal = 0.8;
  BUDA_ASSIGN(const device::DeviceDescriptor device, device::load_device(host, kWormhole));
  const KernelTimes times = kernel_times(host, device, measurements, every);
  std::printf("%s", kernel_time_table(times).c_str());
  for (const auto& [reason, count] : times.left_out) std::printf("left out: %zu of %s\n", count, reason.c_str());
  return times.reached(kGoal) ? 0 : 1;
}

// What the parts of the fabric are worth is shown by leaving them out: then the error has to be large.
Result<int> noc(Host& host, const std::string& folder, Ablation ablation) {
  BUDA_ASSIGN(const device::DeviceDescriptor device, device::load_device(host, kWormhole));
  Replay replay;
  replay.ablation = ablation;
  BUDA_ASSIGN(const auto times, replay_traces(host, folder, device, replay));
  replay.starts_only = true;
  BUDA_ASSIGN(const auto from_starts, replay_traces(host, folder, device, replay));
  const bool same = std::equal(times.begin(), times.end(), from_starts.begin(),
                               [](const TraceTime& a, const TraceTime& b) { return a.predicted == b.predicted; });
  const TraceErrors errors = errors_of(times);
  std::printf("%srecorded times after the starts of kernels change %s\n", trace_table(times).c_str(), same ? "nothing" : "predictions");
  if (!same) return 1;
  if (ablation == Ablation::none) return errors.reached() ? 0 : 1;
  return errors.mean >= (ablation == Ablation::links ? kWithoutLinks : kWithoutContention) ? 0 : 1;
}

Result<int> dram(Host& host) {
  BUDA_ASSIGN(const device::DeviceDescriptor device, device::load_device(host, kWormhole));
  const auto speeds = placement_speeds(device);
  std::printf("%s", placement_table(speeds).c_str());
  return std::all_of(speeds.begin(), speeds.end(), [](const PlacementSpeed& s) { return s.reached(); }) ? 0 : 1;
}

Result<int> gemm(Host& host, const std::string& file) {
  BUDA_ASSIGN(const device::DeviceDescriptor device, device::load_device(host, kWormhole));
  BUDA_ASSIGN(const auto rows, gemms(host, file, device));
  std::printf("%s%.0f %% of %zu rows within 25 %%; goal: two thirds\n", gemm_table(rows).c_str(), 100 * part_within(rows), rows.size());
  return part_within(rows) * 3 >= 2 ? 0 : 1;
}

Result<std::vector<NetlistRate>> rates_of(Host& host, const std::vector<CheckedNetlist>& checked) {
  std::vector<NetlistRate> out;
  for (const CheckedNetlist& one : checked) {
    BUDA_ASSIGN(auto rates, netlist_rates(one, one.device, {}, host));
    out.insert(out.end(), rates.begin(), rates.end());
  }
  return out;
}

Result<int> netlists(Host& host, const std::string& folder) {
  BUDA_ASSIGN(const auto checked, checked_netlists(host, folder));
  BUDA_ASSIGN(const auto rates, rates_of(host, checked));
  std::printf("%s", rate_table(rates).c_str());
  return std::all_of(rates.begin(), rates.end(), [](const NetlistRate& r) { return r.reached(); }) ? 0 : 1;
}

Result<SystemResults> system_results(Host& host, const std::string& folder, const std::string& netlist_folder) {
  BUDA_ASSIGN(const device::DeviceDescriptor device, device::load_device(host, kWormhole));
  const std::string traces = folder + "/noc_traces";
  SystemResults out;
  BUDA_ASSIGN(out.traces, replay_traces(host, traces, device, {}));
  BUDA_ASSIGN(const auto no_links, replay_traces(host, traces, device, {.ablation = Ablation::links, .change = {}}));
  BUDA_ASSIGN(const auto nothing, replay_traces(host, traces, device, {.ablation = Ablation::all, .change = {}}));
  out.without_links = errors_of(no_links);
  out.without_contention = errors_of(nothing);
  out.placement = placement_speeds(device);
  BUDA_ASSIGN(const auto checked, checked_netlists(host, netlist_folder));
  BUDA_ASSIGN(out.netlists, rates_of(host, checked));
  BUDA_ASSIGN(out.gemms, gemms(host, folder + "/n150_gemm.csv", device));
  BUDA_ASSIGN(out.network_sensitivity, network_sensitivity(host, traces, device));
  BUDA_ASSIGN(out.netlist_sensitivity, netlist_sensitivity(host, checked));
  return out;
}

Result<int> page(Host& host, const std::string& folder, const std::string& netlist_folder, const std::string& docs) {
  BUDA_ASSIGN(const std::vector<Measurement> measurements, read_measurements(host, folder));
  const std::vector<Prediction> predictions = held_out(measurements);
  BUDA_ASSIGN(const Simulated simulated, simulate(host, measurements, predictions, 1));
  BUDA_ASSIGN(const SystemResults system, system_results(host, folder, netlist_folder));
  BUDA_TRY(host.fs().write(docs + "/silicon.svg", drawing(class_panels(predictions))));
  BUDA_TRY(host.fs().write(docs + "/silicon-system.svg", drawing(system_panels(system))));
  BUDA_TRY(host.fs().write(docs + "/silicon.md", page_text(predictions, simulated, system_text(system))));
  return 0;
}

// A command with its operands, in order; nothing where there is no such command.
std::optional<Result<int>> run(const std::vector<std::string>& args, Host& host) {
  const std::size_t count = args.size();
  const std::string command = count == 0 ? "" : args[0];
  if (command == "dram" && count == 1) return dram(host);
  if (command == "noc" && count == 2) return noc(host, args[1], Ablation::none);
  if (command == "noc" && count == 4 && args[2] == "--ablate" && args[3] == "links") return noc(host, args[1], Ablation::links);
  if (command == "noc" && count == 4 && args[2] == "--ablate" && args[3] == "all") return noc(host, args[1], Ablation::all);
  if (command == "netlists" && count == 2) return netlists(host, args[1]);
  if (command == "gemm" && count == 2) return gemm(host, args[1]);
  if (command == "page" && count == 4) return page(host, args[1], args[2], args[3]);
  const bool of_ops =
      (count == 2 && (command == "ops" || command == "fit")) || ((count == 2 || count == 3) && (command == "sim" || command == "kernels"));
  if (!of_ops) return std::nullopt;
  auto measurements = read_measurements(host, args[1]);
  if (!measurements) return measurements.failure();
  if (command == "fit") return fit(host, *measurements);
  if (command == "ops") return ops(host, *measurements);
  const std::size_t every = count == 3 ? static_cast<std::size_t>(std::max(std::atoi(args[2].c_str()), 1)) : 1;
  return command == "kernels" ? kernels(host, *measurements, every) : sim(host, *measurements, every);
}

constexpr const char* kUsage =
    "usage: silicon [--share SHARE] COMMAND\n"
    "  ops DIR                       predicts the measurements of single ops in DIR/ops by the rows of SHARE/devices\n"
    "  sim DIR [N]                   the same of held-out predictions, taken through the simulator, of every Nth measurement\n"
    "  kernels DIR [N]               cycles of this project's kernels on target tensix, next to every Nth measurement\n"
    "  noc DIR [--ablate links|all]  replays the traces of Wormhole's networks in DIR; without links, or without contention, the error "
    "has\n"
    "                                to be large\n"
    "  dram                          bandwidth of DRAM, by where the cores are\n"
    "  netlists DIR                  executes the netlists below DIR whose section performance-check expects something\n"
    "  gemm FILE                     utilisation of matrix products on 64 cores of an n150\n"
    "  fit DIR                       fits the rows of SHARE/devices to DIR/ops and writes them there\n"
    "  page DIR NETLISTS DOC         writes DOC/silicon.md and its drawings\n"
    "DIR is only read; tests/bench/silicon/measurements.hpp has its format. Exit code: 1 where a goal is missed, 2 for errors.\n";

}  // namespace
}  // namespace buda::silicon

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  auto fs = buda::io::make_real_file_system();
  buda::CollectingSink sink;
  buda::Host host(*fs, sink);
  host.share_dir = BUDA_SHARE_DIR;
  if (args.size() >= 2 && args[0] == "--share") {
    host.share_dir = args[1];
    args.erase(args.begin(), args.begin() + 2);
  }
  if (args.size() == 1 && args[0] == "--help") {
    std::fputs(buda::silicon::kUsage, stdout);
    return 0;
  }
  auto done = buda::silicon::run(args, host);
  if (!done) {
    std::fputs(buda::silicon::kUsage, stderr);
    return 2;
  }
  if (*done) return **done;
  for (const auto& d : done->failure().diagnostics()) std::fprintf(stderr, "%s\n", d.message.c_str());
  return 2;
}
