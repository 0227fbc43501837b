// Costs of kernels against measurements of silicon.
//
//   silicon fit DIR SHARE       fits the rows of SHARE/devices to DIR and writes them; DIR is a folder as measurements.hpp describes it
//   silicon judge DIR SHARE     predicts DIR by the rows as they are; exit code 1 where a class misses its goal
//   silicon noc DIR SHARE       replays the traces of Wormhole's networks in DIR; exit code 1 where the goals are missed
//   silicon page DIR SHARE DOC  writes the page DOC/silicon.md and its drawing from held-out predictions
#include "costs_section.hpp"
#include "fits.hpp"
#include "measurements.hpp"
#include "noc_traces.hpp"
#include "page.hpp"
#include "table.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace buda::silicon {
namespace {

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

Result<int> judge(Host& host, const std::vector<Measurement>& measurements) {
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

Result<int> page(Host& host, const std::vector<Measurement>& measurements, const std::string& folder) {
  std::vector<Prediction> predictions;
  for (const std::string& arch : archs_of(measurements)) {
    Fit found = fit_rows(measurements, arch);
    predictions.insert(predictions.end(), found.predictions.begin(), found.predictions.end());
  }
  BUDA_TRY(host.fs().write(folder + "/silicon.svg", drawing(predictions)));
  BUDA_TRY(host.fs().write(folder + "/silicon.md", page_text(predictions)));
  return 0;
}

// What the parts of the fabric are worth is shown by leaving them out.
Result<int> noc(Host& host, const std::string& folder) {
  BUDA_ASSIGN(device::DeviceDescriptor device, device::load_device(host, "wormhole_b0"));
  BUDA_ASSIGN(const auto times, replay_traces(host, folder, device, Ablation::none));
  BUDA_ASSIGN(const auto no_links, replay_traces(host, folder, device, Ablation::links));
  BUDA_ASSIGN(const auto nothing, replay_traces(host, folder, device, Ablation::all));
  std::printf("%swithout links: mean %.1f %%; without contention: mean %.1f %%\n", trace_table(times).c_str(), errors_of(no_links).mean,
              errors_of(nothing).mean);
  return errors_of(times).reached() ? 0 : 1;
}

Result<int> run(const std::vector<std::string>& args, Host& host) {
  if (args[0] == "noc") {
    host.share_dir = args[2];
    return noc(host, args[1]);
  }
  BUDA_ASSIGN(std::vector<Measurement> measurements, read_measurements(host, args[1]));
  host.share_dir = args[2];
  if (args[0] == "fit") return fit(host, measurements);
  if (args[0] == "judge") return judge(host, measurements);
  return page(host, measurements, args[3]);
}

}  // namespace
}  // namespace buda::silicon

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  bool fits = args.size() == 3 && (args[0] == "fit" || args[0] == "judge" || args[0] == "noc");
  if (!fits && !(args.size() == 4 && args[0] == "page")) {
    std::fputs("usage: silicon fit|judge|noc DIR SHARE, or silicon page DIR SHARE DOC\n", stderr);
    return 2;
  }
  auto fs = buda::io::make_real_file_system();
  buda::CollectingSink sink;
  buda::Host host(*fs, sink);
  auto done = buda::silicon::run(args, host);
  if (done) return *done;
  for (const auto& d : done.failure().diagnostics()) std::fprintf(stderr, "%s\n", d.message.c_str());
  return 2;
}
