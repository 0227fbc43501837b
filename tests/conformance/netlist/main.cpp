// SPDX-License-Identifier: Apache-2.0
// Runs netlists on target golden, judges every op's output, and tells which do not run or disagree, and why.
#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/functional/device.hpp>
#include <buda/io/file_system.hpp>
#include <buda/runtime/programs/bare_netlist.hpp>
#include <buda/runtime/programs/program_order.hpp>
#include <buda/runtime/session/netlist_run.hpp>
#include <buda/runtime/session/stimulus.hpp>
#include <buda/tensor/tensor.hpp>

#include "coverage.hpp"
#include "generator.hpp"
#include "judge.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <new>
#include <optional>

namespace {

using namespace buda;

struct NoSink final : DiagSink {
  void report(const Diagnostic& d) override {
    if (d.severity == Severity::error) last = d.message;
  }
  std::string last;
};

struct Options {
  std::size_t most_ops = 200;
  double most_datums = 1e9;
  std::optional<device::DeviceDescriptor> chip;  // absent: as the netlist says
  judge::Coverage* coverage = nullptr;           // of what agrees
  double work = 1e8;                             // multiplications of a product that are judged
  functional::DeviceOptions device;
  bool judge = true;
  std::string share;
  std::uint64_t seed = 1;
  unsigned threads = 1;
};

// "ok", "refused …", "GDnnn …"
std::string run_file(const std::string& path, const std::string& text, const Options& o) {
  NoSink sink;
  auto fs = io::make_real_file_system();
  Host host(*fs, sink);
  host.share_dir = o.share;
  host.threads = o.threads;
  host.seed = o.seed;
  auto first = [](const Failure& f, const char* kind) {
    const auto& d = f.diagnostics().front();
    return cat(kind, " [", d.code, "] ", d.message,
               f.diagnostics().size() > 1 ? cat(" (+", f.diagnostics().size() - 1, ")") : std::string());
  };
  runtime::Program program;
  auto bare = runtime::load_bare_netlist(host, text, path, o.chip);
  if (!bare) return first(bare.failure(), "refused");
  program.netlist = std::move(bare->netlist);
  std::size_t ops = 0;
  for (const auto& g : program.netlist.graphs) ops += g.ops.size();
  if (ops > o.most_ops) return cat("large ", ops, " ops");
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
  for (const auto& g : program.netlist.graphs)
    for (const auto& op : g.ops) datums += static_cast<double>(op.shape().volume()) * op.tile_dim.datums();
  if (datums > o.most_datums) return cat("large ", datums / 1e6, " million numbers");
  auto inputs = runtime::stimulate(program.netlist, *config, o.seed, *entries);
  if (!inputs) return first(inputs.failure(), "stimulus");
  functional::DeviceOptions options = o.device;
  auto opened = functional::make_device(program, options, host);
  if (!opened) return first(opened.failure(), "failed");
  runtime::Device& golden = **opened;
  judge::Judge judge(program.netlist, options.mode == arith::Mode::fp32 ? judge::Precision::fp32 : judge::Precision::exact, o.work);
  if (o.judge) golden.observe(judge);
  for (const auto& queue : program.netlist.queues) {
    auto given = inputs->find(queue.name);
    if (given == inputs->end()) continue;
    const bool ram = queue.kind == netlist::QueueKind::ram;
    auto filled = ram ? golden.write(queue.name, 0, given->second) : golden.push(queue.name, given->second);
    if (!filled) return first(filled.failure(), "failed");
    if (!o.judge) continue;
    auto held = golden.read(queue.name, 0, given->second.shape()[0]);
    if (!held) return first(held.failure(), "failed");
    judge.filled(queue, given->second, *held);
  }
  for (const auto* p : runtime::program_order(program.netlist)) {
    std::map<std::string, std::int64_t> values;
    for (const auto& i : p->instructions)
      if (const auto* param = std::get_if<netlist::instruction::Param>(&i.what))
        for (const auto& name : param->names) values[name] = run.parameters.at(name);
    auto done = golden.run(p->name, values);
    if (!done) return first(done.failure(), "failed");
  }
  if (!o.judge) return "ok";
  for (const auto* queue : runtime::output_queues(program.netlist)) {
    const bool ram = queue->kind == netlist::QueueKind::ram;
    auto taken = ram ? golden.read(queue->name, 0, queue->entries) : golden.pop(queue->name, *golden.waiting(queue->name));
    if (!taken) return first(taken.failure(), "failed");
    judge.taken(*queue, *taken);
  }
  if (!judge.complaints().empty()) return cat("differs ", join(judge.complaints(), "; "));
  if (o.coverage != nullptr) o.coverage->add(program.netlist);
  return cat("agrees ", judge.ops(), " ops, ", judge.compared(), " numbers");
}

// Netlists may ask for more memory than there is; tools say so (tool_main).
std::string verdict_of(const std::string& path, const std::string& text, const Options& o) {
  try {
    return run_file(path, text, o);
  } catch (const std::bad_alloc&) {
    return "refused out of memory";
  }
}

constexpr int kSkipped = 77;

// What a verdict has to begin with for the test to pass: netlists that break a rule, or are larger than asked for, are no concern of this
// test.
bool passes(const std::string& verdict) {
  for (const char* word : {"agrees", "ok", "refused", "large"})
    if (verdict.starts_with(word)) return true;
  return false;
}

}  // namespace

// netlist_conformance [--fp32] [--run-only] [--most-ops N] [--most-datums N] [--generate N] [--covered] [--faults N] [--seed S]
// [--show N] [--show-fault N] --share DIR FILE|DIR…; with --covered the generated netlists have to use all of the format.
int main(int argc, char** argv) {
  Options o;
  std::vector<std::string> files;
  std::uint64_t generate = 0, faults = 0, seed = 1;
  bool quiet = false, covered = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    auto number = [&] { return i + 1 < argc ? parse_double(argv[++i]).value_or(0) : 0; };
    if (arg == "--most-ops") {
      o.most_ops = static_cast<std::size_t>(number());
    } else if (arg == "--most-datums") {
      o.most_datums = number();
    } else if (arg == "--share" && i + 1 < argc) {
      o.share = argv[++i];
    } else if (arg == "--generate") {
      generate = static_cast<std::uint64_t>(number());
    } else if (arg == "--faults") {
      faults = static_cast<std::uint64_t>(number());
    } else if (arg == "--seed") {
      seed = static_cast<std::uint64_t>(number());
    } else if (arg == "--threads") {
      o.threads = static_cast<unsigned>(number());
    } else if (arg == "--show") {
      std::fputs(judge::random_netlist(static_cast<std::uint64_t>(number())).c_str(), stdout);
    } else if (arg == "--show-fault") {
      const auto s = static_cast<std::uint64_t>(number());
      std::fputs(judge::with_fault(judge::random_netlist(s), s).c_str(), stdout);
    } else if (arg == "--run-only") {
      o.judge = false;
    } else if (arg == "--covered") {
      covered = true;
    } else if (arg == "--quiet") {
      quiet = true;
    } else if (arg == "--fp32") {
      o.device.mode = arith::Mode::fp32;
    } else if (std::filesystem::is_directory(arg)) {
      for (const auto& e : std::filesystem::recursive_directory_iterator(arg))
        if (e.path().extension() == ".yaml" || e.path().extension() == ".yml") files.push_back(e.path().string());
    } else if (std::filesystem::exists(arg)) {
      files.push_back(arg);
    } else {
      std::fprintf(stderr, "there is no %s\n", arg.c_str());
      return kSkipped;
    }
  }
  std::sort(files.begin(), files.end());
  std::map<std::string, int> kinds;
  bool passed = true;
  auto tell = [&](const std::string& what, const std::string& verdict, bool worth_telling) {
    ++kinds[verdict.substr(0, verdict.find(' '))];
    passed = passed && passes(verdict);
    if (worth_telling || !passes(verdict)) std::printf("%s: %s\n", what.c_str(), verdict.c_str());
    std::fflush(stdout);
  };
  Options small = o;
  small.work = 1e7;
  if (generate + faults > 0) {
    // Reading the descriptor takes longer than most of these netlists do.
    NoSink sink;
    auto real = io::make_real_file_system();
    Host host(*real, sink);
    host.share_dir = o.share;
    auto device = device::load_device(host, "wormhole_b0");
    if (!device) return 1;
    device->chips = 2;
    small.chip = std::move(*device);
  }
  judge::Coverage coverage;
  for (std::uint64_t k = seed; k < seed + generate + faults; ++k) {
    const bool fault = k >= seed + generate;
    // Half of them matrix by matrix, as golden does it where inputs get too large.
    small.device.most_numbers = k % 2 == 0 ? o.device.most_numbers : 0;
    small.coverage = fault ? nullptr : &coverage;
    const std::string legal = judge::random_netlist(k);
    const std::string verdict = verdict_of(cat("seed ", k), fault ? judge::with_fault(legal, k) : legal, small);
    // A fault may lead to anything but a wrong answer.
    tell(cat("seed ", k), fault && verdict.starts_with("failed") ? "refused " + verdict : verdict, !quiet);
  }
  if (covered)
    for (const auto& name : coverage.missing()) {
      std::printf("no netlist that agrees has %s\n", name.c_str());
      passed = false;
    }
  auto fs = io::make_real_file_system();
  for (const auto& file : files) {
    auto bytes = fs->read(file);
    if (bytes) tell(file, verdict_of(file, std::string(bytes->view()), o), !quiet);
  }
  for (const auto& [kind, count] : kinds) std::fprintf(stderr, "%s: %d\n", kind.c_str(), count);
  return passed ? 0 : 1;
}
