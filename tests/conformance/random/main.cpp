// SPDX-License-Identifier: Apache-2.0
// random_conformance: random graphs of integers and of special values, judged on the targets of a chip.
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>

#include "judge.hpp"
#include "known.hpp"
#include "workers.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace {

using namespace buda;
using namespace buda::trial;

constexpr const char* kUsage =
    "random_conformance [options]\n"
    "  --suite integers|borders|special   which graphs; integers\n"
    "  --seeds A:B                from A up to but not including B; 0:100\n"
    "  --device NAME,…            n150,e150\n"
    "  --mode MODE,…              of target golden: exact,bits\n"
    "  --target NAME              golden; with tensix pass --device n150, too\n"
    "  --set NAME=VALUE           an option of the target: cache=DIR\n"
    "  --ops NAME,…               only graphs with one of these\n"
    "  --policy NAME              of the balancer; minimize_grid, with the least effort, since it is the fastest\n"
    "  --jobs N                   processes; 2\n"
    "  --seconds N                after which a graph is too slow; 120\n"
    "  --plugins DIR, --share DIR those of the build tree that this program is in\n"
    "  --text                     draws and prints the graphs, and does nothing else\n"
    "  --save DIR                 writes the graphs as DIR/SEED.graph.json, which buda compiles, and does nothing else\n"
    "  --no-reduce                failures as they were drawn\n"
    "  --disturbed                changes the last number of each output, and passes if each seed fails\n"
    "  --failures N               prints that many failures of each kind; 1\n"
    "  --stats                    prints where ops are placed, and in suite special the classes of results\n"
    "  --host-ops BITS            prints the ops of integers up to 2^BITS that run on the host, and what the compiler says of them\n"
    "  --known FILE               the seeds that fail still; others may not, and these have to\n"
    "  --write-known FILE         writes such a list\n";

constexpr const char* kKnownHeading = "# Seeds that fail still, by device and mode. This list may only shrink.\n";

struct Settings {
  JudgeOptions judge;
  std::string plugins, share, known, write_known, save;
  std::uint64_t first = 0, last = 100;
  unsigned jobs = 2, seconds = 120;
  std::size_t failures = 1;
  bool stats = false, text = false;
};

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// False where the option is unknown.
bool set_option(Settings& s, const std::string& name, const std::string& value) {
  if (name == "--suite" && (value == "integers" || value == "borders" || value == "special")) {
    s.judge.suite = value == "special" ? Suite::special : value == "borders" ? Suite::borders : Suite::integers;
  } else if (name == "--seeds" && value.find(':') != std::string::npos) {
    s.first = std::strtoull(value.c_str(), nullptr, 10);
    s.last = std::strtoull(value.c_str() + value.find(':') + 1, nullptr, 10);
  } else if (name == "--device") {
    s.judge.devices = list_of(value);
  } else if (name == "--mode") {
    s.judge.modes = list_of(value);
  } else if (name == "--target") {
    s.judge.target = value;
  } else if (name == "--set" && value.find('=') != std::string::npos) {
    s.judge.target_options.set(value.substr(0, value.find('=')), value.substr(value.find('=') + 1));
  } else if (name == "--ops") {
    s.judge.ops = list_of(value);
  } else if (name == "--policy") {
    s.judge.compile.balancer.policy = value;
  } else if (name == "--jobs") {
    s.jobs = std::max(1u, static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10)));
  } else if (name == "--seconds") {
    s.seconds = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
  } else if (name == "--failures") {
    s.failures = std::strtoul(value.c_str(), nullptr, 10);
  } else if (name == "--plugins") {
    s.plugins = value;
  } else if (name == "--share") {
    s.share = value;
  } else if (name == "--host-ops") {
    s.judge.host_bits = std::atoi(value.c_str());
  } else if (name == "--known") {
    s.known = value;
  } else if (name == "--save") {
    s.save = value;
  } else if (name == "--write-known") {
    s.write_known = value;
  } else {
    return false;
  }
  return true;
}

bool read_options(int argc, char** argv, Settings& s) {
  s.judge.compile.balancer.policy = "minimize_grid";
  s.judge.compile.balancer.effort = 0;
  const std::filesystem::path build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  s.plugins = build / "lib/buda/plugins/abi1";
  s.share = build / "share/buda";
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--stats")
      s.stats = true;
    else if (name == "--text")
      s.text = true;
    else if (name == "--disturbed")
      s.judge.disturbed = true;
    else if (name == "--no-reduce")
      s.judge.reduce = false;
    else if (i + 1 >= argc || !set_option(s, name, argv[++i]))
      return false;
  }
  return true;
}

// A kind on several devices and in several modes is shown once.
void print_failures(const std::vector<Verdict>& verdicts, std::size_t most) {
  std::map<std::string, std::size_t> printed;
  for (const Verdict& v : verdicts)
    for (const Finding& f : v.findings)
      if (++printed[without_run(f.kind)] <= most)
        std::printf("seed %llu: %s\n%s\n", static_cast<unsigned long long>(v.seed), f.kind.c_str(), f.text.c_str());
}

void print_host_ops(const std::vector<Verdict>& verdicts) {
  for (const Verdict& v : verdicts)
    for (const auto& [name, count] : v.counts)
      if (name.starts_with("host|")) std::printf("%s|seed %llu\n", name.c_str(), static_cast<unsigned long long>(v.seed));
}

// Whether those seeds fail that the list says, and no others.
int verdict_against(const std::string& path, const std::vector<Verdict>& verdicts) {
  Failing known;
  if (!path.empty()) {
    std::ifstream file(path);
    known = read_failing({std::istreambuf_iterator<char>(file), {}});
  }
  const Failing failing = failing_of(verdicts), more = without(failing, known), mended = without(known, failing);
  if (!path.empty() && !more.empty()) std::printf("these fail, and did not before:\n%s", failing_text(more).c_str());
  if (!mended.empty()) std::printf("these no longer fail; take them out of %s:\n%s", path.c_str(), failing_text(mended).c_str());
  return more.empty() && mended.empty() ? 0 : 1;
}

int judge_all(const Settings& s) {
  auto toolchain = load_toolchain(s.plugins, s.share);
  if (!toolchain) return std::fprintf(stderr, "%s\n", toolchain.failure().diagnostics().front().message.c_str()), 2;
  auto judge = Judge::make(s.judge, **toolchain);
  if (!judge) return std::fprintf(stderr, "%s\n", judge.failure().diagnostics().front().message.c_str()), 2;
  std::uint64_t done = 0, failed = 0;
  const bool shown = isatty(STDERR_FILENO) != 0;
  const std::vector<Verdict> verdicts = judged(
      s.first, s.last, s.jobs, s.seconds, [&](std::uint64_t seed) { return judge->judge(seed); },
      [&](const Verdict& v) {
        ++done;
        failed += v.findings.empty() ? 0 : 1;
        if (shown)
          std::fprintf(stderr, "\r%llu graphs, %llu fail ", static_cast<unsigned long long>(done), static_cast<unsigned long long>(failed));
      });
  Counts counts;
  for (const Verdict& v : verdicts)
    for (const auto& [name, count] : v.counts) counts[name] += count;
  print_failures(verdicts, s.failures);
  if (failed > 0) std::printf("%s\n", finding_table(verdicts).c_str());
  print_host_ops(verdicts);
  if (s.stats) std::printf("%s\n", placement_table(counts).c_str());
  if (s.stats && s.judge.suite == Suite::special) std::printf("%s\n", class_table(counts).c_str());
  for (const std::string& device : s.judge.devices)
    std::printf("%s: %lld graphs\n", device.c_str(), static_cast<long long>(counts[cat("graphs|", device)]));
  std::printf("%llu seeds, %llu fail\n", static_cast<unsigned long long>(done), static_cast<unsigned long long>(failed));
  if (s.judge.disturbed) return failed == done ? 0 : 1;
  if (!s.write_known.empty()) std::ofstream(s.write_known) << kKnownHeading << failing_text(failing_of(verdicts));
  return verdict_against(s.known, verdicts);
}

int save_all(const Settings& s) {
  for (std::uint64_t seed = s.first; seed < s.last; ++seed) {
    auto graph = graph_of(recipe_of(s.judge.suite, seed));
    if (!graph) return std::fprintf(stderr, "%s\n", graph.failure().diagnostics().front().message.c_str()), 2;
    std::ofstream file(std::filesystem::path(s.save) / cat(seed, ".graph.json"));
    file << graph::graph_text(*graph);
    if (!file) return std::fprintf(stderr, "cannot write to '%s'\n", s.save.c_str()), 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!read_options(argc, argv, settings)) return std::fputs(kUsage, stderr), 2;
  if (!settings.save.empty()) return save_all(settings);
  if (!settings.text) return judge_all(settings);
  for (std::uint64_t seed = settings.first; seed < settings.last; ++seed)
    std::printf("seed %llu\n%s", static_cast<unsigned long long>(seed), text_of(recipe_of(settings.judge.suite, seed)).c_str());
  return 0;
}
