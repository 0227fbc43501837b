// Costs of kernels against measurements of silicon.
//
//   silicon fit DIR SHARE       fits the rows of SHARE/devices to DIR and writes them; DIR is a folder as measurements.hpp describes it
//   silicon judge DIR SHARE     predicts DIR by the rows as they are; exit code 1 where a class misses its goal
//   silicon sim DIR SHARE [N]   the same of held-out predictions, taken through the simulator, of every Nth measurement
//   silicon noc DIR SHARE       replays the traces of Wormhole's networks in DIR; exit code 1 where the goals are missed
//   silicon page DIR SHARE DOC  writes the page DOC/silicon.md and its drawing from held-out predictions
#include "costs_section.hpp"
#include "fits.hpp"
#include "measurements.hpp"
#include "noc_traces.hpp"
#include "page.hpp"
#include "table.hpp"
#include "through_sim.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

Result<int> page(Host& host, const std::vector<Measurement>& measurements, const std::string& folder) {
  const std::vector<Prediction> predictions = held_out(measurements);
  BUDA_ASSIGN(const Simulated simulated, simulate(host, measurements, predictions, 1));
  BUDA_TRY(host.fs().write(folder + "/silicon.svg", drawing(predictions)));
  BUDA_TRY(host.fs().write(folder + "/silicon.md", page_text(predictions, simulated)));
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
  if (args[0] == "sim") return sim(host, measurements, args.size() == 4 ? std::max(std::atoi(args[3].c_str()), 1) : 1);
  return page(host, measurements, args[3]);
}

}  // namespace
}  // namespace buda::silicon

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  bool fits = args.size() == 3 && (args[0] == "fit" || args[0] == "judge" || args[0] == "noc");
  fits = fits || (args.size() == 4 && args[0] == "page") || ((args.size() == 3 || args.size() == 4) && args[0] == "sim");
  if (!fits) {
    std::fputs("usage: silicon fit|judge|noc DIR SHARE, silicon sim DIR SHARE [N], or silicon page DIR SHARE DOC\n", stderr);
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
