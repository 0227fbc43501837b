// Runs netlists on target golden and tells which do not run, and why.
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/io/file_system.hpp>
#include <buda/netlist/check.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/runtime/netlist_run.hpp>
#include <buda/runtime/stimulus.hpp>
#include <golden/device.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

namespace {

using namespace buda;

struct NoSink final : DiagSink {
  void report(const Diagnostic& d) override {
    if (d.severity == Severity::error) last = d.message;
  }
  std::string last;
};

struct Golden final : runtime::Target {
  explicit Golden(golden::DeviceOptions o) : options(std::move(o)) {}
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host& host) override {
    BUDA_ASSIGN(auto device, golden::GoldenDevice::make(program, options, host));
    return std::unique_ptr<runtime::Device>(std::move(device));
  }
  golden::DeviceOptions options;
};

struct Options {
  std::size_t most_ops = 200;
  double most_datums = 1e9;
  golden::DeviceOptions device;
  std::string share;
  std::uint64_t seed = 1;
  unsigned threads = 1;
};

// "ok", "refused …", "GDnnn …"
std::string run_file(const std::string& path, const std::string& text, const Options& o, std::map<std::string, double>& cost) {
  NoSink sink;
  auto fs = io::make_real_file_system();
  Host host(*fs, sink);
  host.share_dir = o.share;
  host.threads = o.threads;
  host.seed = o.seed;
  auto first = [](const Failure& f, const char* kind) {
    const auto& d = f.diagnostics().front();
    return cat(kind, " [", d.code, "] ", d.message, f.diagnostics().size() > 1 ? cat(" (+", f.diagnostics().size() - 1, ")") : std::string());
  };
  runtime::Program program;
  netlist::ParseOptions parse;
  auto parsed = netlist::parse_netlist(text, path, parse);
  for (const char* arch : {"wormhole_b0", "grayskull", "wormhole", "blackhole"}) {
    if (parsed || parsed.failure().diagnostics().front().code != "NL007") break;
    parse.arch = arch;
    parsed = netlist::parse_netlist(text, path, parse);
  }
  if (!parsed) return first(parsed.failure(), "unread");
  program.netlist = std::move(*parsed);
  std::size_t ops = 0;
  for (const auto& g : program.netlist.graphs) ops += g.ops.size();
  if (ops > o.most_ops) return "large";
  const std::string& arch = program.netlist.arch;
  auto device = device::load_device(host, arch == "grayskull" ? "grayskull" : "wormhole_b0");
  if (!device) return first(device.failure(), "device");
  device->chips = 64;
  Failure refused;
  if (arch != "blackhole")
    for (auto& d : netlist::check_netlist(program.netlist, *device))
      if (d.severity == Severity::error) refused.add(std::move(d));
  if (!refused.empty()) return first(refused, "refused");
  auto config = runtime::read_test_config(program.netlist);
  if (!config) return first(config.failure(), "config");
  runtime::NetlistRunOptions run;
  for (const auto& p : program.netlist.programs)
    for (const auto& i : p.instructions)
      if (const auto* param = std::get_if<netlist::instruction::Param>(&i.what))
        for (const auto& name : param->names) run.parameters[name] = 1;
  auto entries = runtime::entries_read(program.netlist, run);
  if (!entries) return first(entries.failure(), "program");
  double datums = 0;
  for (const auto* q : runtime::input_queues(program.netlist))
    datums += static_cast<double>((*entries)[q->name]) * static_cast<double>(q->shape().volume()) * q->tile_dim.datums();
  if (datums > o.most_datums) return cat("large: ", datums / 1e6, " million numbers in its queues");
  const auto before = std::chrono::steady_clock::now();
  auto inputs = runtime::stimulate(program.netlist, *config, o.seed, *entries);
  cost["stimulus"] += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  if (!inputs) return first(inputs.failure(), "stimulus");
  Golden target(o.device);
  auto done = runtime::run_netlist(program, target, *device, *inputs, run, host);
  if (!done) return first(done.failure(), "failed");
  return "ok";
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--most-ops") {
      o.most_ops = static_cast<std::size_t>(*parse_uint(argv[++i]));
    } else if (arg == "--share") {
      o.share = argv[++i];
    } else if (arg == "--fp32") {
      o.device.mode = golden::Mode::fp32;
    } else if (std::filesystem::is_directory(arg)) {
      for (const auto& e : std::filesystem::recursive_directory_iterator(arg))
        if (e.path().extension() == ".yaml" || e.path().extension() == ".yml") files.push_back(e.path().string());
    } else {
      files.push_back(arg);
    }
  }
  std::sort(files.begin(), files.end());
  auto fs = io::make_real_file_system();
  std::map<std::string, int> kinds;
  for (const auto& file : files) {
    auto bytes = fs->read(file);
    if (!bytes) continue;
    const auto before = std::chrono::steady_clock::now();
    std::map<std::string, double> cost;
    const std::string verdict = run_file(file, std::string(bytes->view()), o, cost);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    ++kinds[verdict.substr(0, verdict.find(' '))];
    std::printf("%7.2f %s: %s\n", seconds, file.c_str(), verdict.c_str());
    std::fflush(stdout);
  }
  for (const auto& [kind, count] : kinds) std::fprintf(stderr, "%s: %d\n", kind.c_str(), count);
}
