// SPDX-License-Identifier: Apache-2.0
// How the time of netlist2pipe and pipegen grows with the tiles of an edge. The counter `times_quarter` is the time of an edge by that of
// one with a quarter of its tiles: 4 is linear. Where tiles are taken one by one 4 is what they cost, and at most 5 is allowed; where each
// core's tiles lie together, time follows the runs, of which there are as many in both. `compact_file` compares the two forms of a file.
#include <buda/base/text.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/overlay/build.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/check/check.hpp>
#include <buda/pipes/format/pipes_file.hpp>
#include <buda/pipes/plan/epochs.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

namespace {

using namespace buda;

constexpr int kCores = 8;  // on each side of the grid

// An op on 8 x 4 cores that takes what another makes: as it lies there, or each tile from elsewhere (turned, in ublocks of one tile).
std::string netlist_text(int side, bool scattered) {
  auto queue = [&](const char* name, const char* input, unsigned base) {
    std::string dram;
    for (int i = 0; i < kCores * 4; ++i)
      dram += cat(i == 0 ? "" : ", ", '[', i % 6, ", ", base + 0x200000u * static_cast<unsigned>(i / 6), ']');
    return cat("  ", name, ": {input: ", input, ", type: queue, entries: 1, grid_size: [8, 4], t: 1, mblock: [", side, ", ", 2 * side,
               "], ublock: [1, 1], ublock_order: r, df: Bfp8_b, target_device: 0, loc: dram, dram: [", dram, "]}\n");
  };
  auto op = [&](const char* name, const char* input, int column, int rows, int cols, const char* more) {
    return cat("    ", name, ": {type: nop, inputs: [", input, "], grid_loc: [0, ", column, "], grid_size: [", rows, ", ", cols,
               "], t: 1, mblock: [", 8 * side / rows, ", ", 8 * side / cols,
               "], ublock: [1, 1], ublock_order: r, buf_size_mb: 1, in_df: [Bfp8_b], out_df: Bfp8_b, ",
               "intermed_df: Bfp8_b, acc_df: Float16_b, math_fidelity: LoFi", more, "}\n");
  };
  return cat("devices: {arch: wormhole_b0}\nqueues:\n", queue("x", "HOST", 0x10000000), queue("out", "to", 0x20000000),
             "graphs:\n  g:\n    target_device: 0\n    input_count: 1\n", op("from", "x", 0, 8, 4, ""),
             op("to", "from", 4, 8, 4, scattered ? ", input_0_tms: [transpose]" : ""),
             "programs:\n  - p:\n    - execute: {graph_name: g, queue_settings: {",
             "x: {prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}}}\n");
}

[[noreturn]] void give_up(const Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.diagnostics().front().message.c_str());
  std::abort();
}

template <class T>
T need(Result<T> result) {
  if (!result) give_up(result.failure());
  return std::move(*result);
}

struct Machine {
  std::unique_ptr<io::FileSystem> fs = io::make_real_file_system();
  CollectingSink sink;
  Host host{*fs, sink};
  device::DeviceDescriptor device;
  device::Cluster cluster;
  Machine() {
    host.share_dir = BUDA_SHARE_DIR;
    device = need(device::load_device(host, "wormhole_b0"));
    cluster = need(device::load_cluster(host, device));
  }
};

const Machine& machine() {
  static const auto* one = new Machine;
  return *one;
}

enum Stage { kPipes, kCheck, kPrograms };

// Processor seconds of one run.
template <class Run>
double seconds_of(Run run) {
  constexpr double kLeast = 0.05;
  int runs = 0;
  const std::clock_t begin = std::clock();  // of this process: other work on the machine does not count
  double spent = 0;
  while (spent < kLeast) {
    run();
    ++runs;
    spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  return spent / runs;
}

class Edge {
 public:
  Edge(int side, bool scattered)
      : netlist_(need(netlist::parse_netlist(netlist_text(side, scattered), "edge.yaml", {machine().device.arch}))),
        index_(netlist_),
        epochs_(need(pipes::epochs_of(netlist_, machine().device))),
        padding_(need(pipes::PaddingTable::make(netlist_, epochs_, machine().device.tile_alignment))),
        graph_(build()) {}

  double seconds(Stage stage) const {
    return seconds_of([&] {
      if (stage == kPipes) {
        benchmark::DoNotOptimize(build());
      } else if (stage == kCheck) {
        need(pipes::check_pipes(index_, machine().device, epochs_.front(), padding_, graph_, machine().cluster));
      } else {
        benchmark::DoNotOptimize(need(overlay::build_blob(graph_, machine().device, machine().cluster)));
      }
    });
  }

  const pipes::PipeGraph& graph() const { return graph_; }

 private:
  pipes::PipeGraph build() const {
    return need(pipes::build_pipes(index_, machine().device, epochs_.front(), padding_, machine().cluster));
  }

  netlist::Netlist netlist_;
  pipes::NetlistIndex index_;
  std::vector<pipes::Epoch> epochs_;
  pipes::PaddingTable padding_;
  pipes::PipeGraph graph_;
};

// Both in turn, so that their times are of the same minute; the median of several rounds.
void edge(benchmark::State& state, Stage stage, bool scattered) {
  constexpr std::size_t kRounds = 5;
  const int side = static_cast<int>(state.range(0));
  const Edge whole(side, scattered), quarter(side / 2, scattered);
  std::array<double, kRounds> times{}, ratios{};
  for (auto _ : state) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      double small = quarter.seconds(stage);
      times[round] = whole.seconds(stage);
      ratios[round] = times[round] / small;
    }
    std::sort(times.begin(), times.end());
    std::sort(ratios.begin(), ratios.end());
    state.SetIterationTime(times[kRounds / 2]);
  }
  const double tiles = 2.0 * kCores * side * kCores * side;  // of both edges
  state.counters["times_quarter"] = ratios[kRounds / 2];
  state.counters["ns_per_tile"] = times[kRounds / 2] / tiles * 1e9;
}

// The two forms of a file in turn: what the compact one takes, by what TT-Buda's takes.
void compact_file(benchmark::State& state) {
  const Edge edge(static_cast<int>(state.range(0)), true);
  const std::string yaml = pipes::pipegen_text(edge.graph()), json = pipes::pipes_text(edge.graph());
  double write = 0;
  for (auto _ : state) {
    write = seconds_of([&] { benchmark::DoNotOptimize(pipes::pipes_text(edge.graph())); });
    const double write_yaml = seconds_of([&] { benchmark::DoNotOptimize(pipes::pipegen_text(edge.graph())); });
    const double read = seconds_of([&] { benchmark::DoNotOptimize(need(pipes::parse_pipes(json, "p.json"))); });
    const double read_yaml = seconds_of([&] { benchmark::DoNotOptimize(need(pipes::parse_pipegen(yaml, "p.yaml"))); });
    state.SetIterationTime(write + read);
    state.counters["write_by_yaml"] = write / write_yaml;
    state.counters["read_by_yaml"] = read / read_yaml;
  }
  state.counters["bytes_by_yaml"] = static_cast<double>(json.size()) / static_cast<double>(yaml.size());
}
BENCHMARK(compact_file)->Arg(4)->Arg(16)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

#define BUDA_EDGE(name, stage, scattered) \
  BENCHMARK_CAPTURE(edge, name, stage, scattered)->Arg(8)->Arg(16)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond)
BUDA_EDGE(pipes_of_scattered_tiles, kPipes, true);
BUDA_EDGE(check_of_scattered_tiles, kCheck, true);
BUDA_EDGE(programs_of_scattered_tiles, kPrograms, true);
BUDA_EDGE(pipes_of_runs, kPipes, false);
BUDA_EDGE(programs_of_runs, kPrograms, false);

}  // namespace
