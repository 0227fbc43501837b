// SPDX-License-Identifier: Apache-2.0
// Any bytes into a reader (those of the ground are in ground_readers.cpp): it must answer with a value or with diagnostics. READER names
// the function that is fuzzed.
#include <buda/base/text.hpp>
#include <buda/cli/command_line.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/load.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/image/image.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/passes/pipeline/pipeline.hpp>
#include <buda/pipes/format/pipes_file.hpp>

#include <algorithm>
#include <cstdlib>
#include <fuzz/check.hpp>

namespace {

using namespace buda;

[[maybe_unused]] void fuzz_netlist(std::string text) {
  auto read = netlist::parse_netlist(text, "f.yaml");
  if (!check(read)) return;
  std::string once = netlist::write_netlist(*read);
  auto again = netlist::parse_netlist(once, "f.yaml");
  if (!again || netlist::write_netlist(*again) != once) std::abort();
}

[[maybe_unused]] void fuzz_device(std::string text) {
  io::MemoryFileSystem fs;
  fs.put("./d.yaml", std::move(text));
  CollectingSink sink;
  Host host(fs, sink);
  check(device::load_device(host, "./d.yaml"));
}

[[maybe_unused]] void fuzz_plan(std::string text) {
  io::MemoryFileSystem fs;
  fs.put("p.json", std::move(text));
  check(host_plan::read_host_plan(fs, "p.json"));
}

[[maybe_unused]] void fuzz_pipeline(std::string text) { check(passes::parse_pipeline(text, "p.yaml")); }

struct Machine {
  device::DeviceDescriptor device;
  device::Cluster cluster;
};

// With more than one chip, so that what leads from chip to chip is made too.
Machine load_machine(const char* name) {
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  host.share_dir = SHARE_DIR;
  auto device = device::load_device(host, name);
  if (!device) std::abort();
  auto cluster = device::load_cluster(host, *device);
  if (!cluster) std::abort();
  device->chips = std::max(device->chips, 2);
  return {*device, *cluster};
}

// Pipes over PCIe are those of chips without ethernet.
const Machine& machine_of(const pipes::PipeGraph& graph) {
  static const Machine with_ethernet = load_machine("n150"), without = load_machine("e150");
  const bool over_pcie =
      std::any_of(graph.pipes.begin(), graph.pipes.end(), [](const pipes::Pipe& p) { return p.mmio_downstream.has_value(); });
  return over_pcie ? without : with_ethernet;
}

// What can be read can be written as the same, in both forms, and either has streams or says why not. Streams are written in both forms.
[[maybe_unused]] void fuzz_pipegen(std::string text) {
  auto read = pipes::parse_pipe_graph(text, "p");
  if (!check(read)) return;
  for (auto* write : {pipes::pipegen_text, pipes::pipes_text}) {
    std::string once = write(read->graph);
    auto again = pipes::parse_pipe_graph(once, "p");
    if (!again || write(again->graph) != once) std::abort();
  }
  const Machine& machine = machine_of(read->graph);
  auto blob = overlay::build_blob(read->graph, machine.device, machine.cluster);
  if (!check(blob)) return;
  if (!overlay::parse_blob(overlay::blob_text(*blob), "b.json")) std::abort();
  io::MemoryFileSystem fs;
  auto out = fs.create("b.yaml", io::WriteMode::always);
  if (!out || !overlay::write_blob_yaml(*blob, read->graph, machine.device, 0, **out)) std::abort();
}

[[maybe_unused]] void fuzz_blob(std::string text) {
  auto read = overlay::parse_blob(text, "b.json");
  if (!check(read)) return;
  std::string once = overlay::blob_text(*read);
  auto again = overlay::parse_blob(once, "b.json");
  if (!again || overlay::blob_text(*again) != once) std::abort();
}

[[maybe_unused]] void fuzz_archive(std::string text) { check(image::read_image(io::Bytes(std::move(text)), "f.tti")); }

[[maybe_unused]] void fuzz_command(std::string text) {
  std::vector<std::string> arguments;
  for (auto word : split(text, '\0')) arguments.emplace_back(word);
  std::string model, output;
  std::int64_t level = 0;
  cli::OptionSet set;
  set.positional("MODEL", model, "m");
  set.path("output", output, "FILE", "o").also("-o");
  set.integer("level", level, "N", "l");
  io::MemoryFileSystem fs;
  check(cli::parse_command_line(
      arguments, set, [](const std::string&) { return std::nullopt; }, fs));
}

// A file of options.
[[maybe_unused]] void fuzz_config(std::string text) {
  std::string model, output, config;
  std::vector<std::string> several;
  std::int64_t level = 0;
  double real = 0;
  bool flag = false;
  cli::OptionSet set;
  set.positional("MODEL", model, "m");
  set.path("output", output, "FILE", "o");
  set.path("config", config, "FILE", "c");
  set.texts("set", several, "KEY=VALUE", "s");
  set.integer("level", level, "N", "l");
  set.real("real", real, "R", "r");
  set.flag("flag", flag, "f");
  set.choice("choice", output, {"a", "b"}, "c");
  io::MemoryFileSystem fs;
  fs.put("c.yaml", std::move(text));
  check(cli::parse_command_line(
      {"m", "--config", "c.yaml"}, set, [](const std::string&) { return std::nullopt; }, fs));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  READER(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
