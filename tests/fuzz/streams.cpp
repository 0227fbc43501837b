// SPDX-License-Identifier: Apache-2.0
// Stream programs with numbers changed, executed on the simulator of grids: a run ends, or the reason is told. Every four bytes of the
// input replace a number of a good file: its place, and what stands there then.
#include <buda/device/load.hpp>
#include <buda/diag/format.hpp>
#include <buda/io/file_system.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/blob/blob_places.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/sim/epoch/program_epochs.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace buda;

constexpr std::array<std::string_view, 16> kValues = {
    "0", "1", "2", "3", "7", "31", "255", "65535", "16777216", "2147483647", "4294967295", "-1", "1.5", "[]", "\"\"", "1125899906842624"};
constexpr std::size_t kMaxChanges = 4;

class FixedCore final : public sim::CoreModel {
 public:
  Result<sim::KernelPlan> plan(const sim::KernelContext& kernel) const override {
    sim::KernelPlan plan = plan_steps(kernel.op, kernel.operands);
    plan.input_time = sim::ticks_of(1000);
    return plan;
  }
};

// An epoch, its stream programs as text, and where the numbers of that stand.
struct Subject {
  std::unique_ptr<io::FileSystem> files = io::make_real_file_system();
  CollectingSink sink;
  Host host{*files, sink};
  netlist::Netlist netlist;
  device::DeviceDescriptor device;
  std::unique_ptr<sim::ProgramEpochs> epochs;
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> numbers;
};

template <class T>
T or_abort(Result<T> result) {
  if (!result) std::abort();
  return std::move(*result);
}

std::unique_ptr<Subject> make_subject() {
  auto s = std::make_unique<Subject>();
  s->host.share_dir = SHARE_DIR;
  s->device = or_abort(device::load_device(s->host, "n150"));
  const auto bytes = or_abort(s->files->read(NETLIST));
  s->netlist = or_abort(netlist::parse_netlist(bytes.view(), NETLIST, {.arch = s->device.arch}));
  s->epochs = std::make_unique<sim::ProgramEpochs>(or_abort(sim::ProgramEpochs::make(s->netlist, s->device, s->host)));
  const auto compiler = or_abort(overlay::EpochCompiler::make(s->netlist, s->device, "", s->host));
  const auto pipes = or_abort(compiler.pipes(compiler.epochs().front()));
  s->text = overlay::blob_text(or_abort(compiler.streams(pipes)));
  auto is_digit = [&](std::size_t i) { return i < s->text.size() && s->text[i] >= '0' && s->text[i] <= '9'; };
  for (std::size_t i = 0; i < s->text.size(); ++i) {
    const std::size_t begin = i;
    while (is_digit(i)) ++i;
    if (i > begin) s->numbers.emplace_back(begin, i - begin);
  }
  return s;
}

void check_said(const Diagnostic& d) {
  if (d.message.empty() || d.fault == Fault::bug || format_text(d, {}, nullptr).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<Subject> subject = make_subject();
  std::map<std::size_t, std::string_view> changes;
  for (std::size_t i = 0; i + 4 <= size && changes.size() < kMaxChanges; i += 4)
    changes[(data[i] | data[i + 1] << 8 | data[i + 2] << 16) % subject->numbers.size()] = kValues[data[i + 3] % kValues.size()];
  std::string text = subject->text;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    const auto [at, length] = subject->numbers[change->first];
    text.replace(at, length, change->second);
  }
  auto blob = overlay::parse_blob(text, "blob.json");
  if (!blob) {
    for (const auto& d : blob.failure().diagnostics()) check_said(d);
    return 0;
  }
  if (!overlay::check_places(*blob, subject->device, "blob.json")) return 0;
  const FixedCore cores;
  const auto program = std::make_shared<const overlay::Blob>(std::move(*blob));
  auto run = subject->epochs->begin(0, program, cores, {}, {});
  if (!run) {
    for (const auto& d : run.failure().diagnostics()) check_said(d);
    return 0;
  }
  const auto state = run->advance(sim::kForever);
  if (!state) check_said(state.failure().diagnostics().front());
  if (state && *state == sim::RunState::deadlocked) check_said(subject->epochs->why(0, program, cores, {}, *run));
  return 0;
}
