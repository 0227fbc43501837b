// What every target promises, tried on one: target_conformance PREFIX NAME [PLUGIN], with OpenBuda installed in PREFIX.
//
// The netlist adds a ram to a queue, one entry per execution. Values are compared between runs of the same target, so that one that
// computes nothing can pass, too. Exits with 1 where a promise is broken, after all were tried.
#include <buda/device/load.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/plugin/loader.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/streams.hpp>

#include <functional>
#include <iostream>
#include <string>
#include <vector>

using namespace buda;

namespace {

constexpr std::int64_t kEntries = 4;

const char* const kNetlist = R"(devices: {arch: wormhole_b0}
queues:
  x: {type: queue, input: HOST, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x20000000]]}
  w: {type: ram, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[1, 0x20000000]]}
  y: {type: queue, input: sum, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[2, 0x20000000]]}
graphs:
  g:
    target_device: 0
    input_count: 1
    sum: {type: add, grid_loc: [0, 0], grid_size: [1, 1], inputs: [x, w], in_df: [Float16_b, Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2}
programs:
  - run:
    - param: [$p_loop_count]
    - staticvar: {$p: 0}
    - loop: $p_loop_count
    - execute: {graph_name: g, queue_settings: {x: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $p, rd_ptr_global: $p}, w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}}}
    - varinst: [$p, incwrap, 1, 8]
    - endloop
)";

struct Messages final : DiagSink {
  void report(const Diagnostic& d) override { std::clog << d.message << '\n'; }
};

Tensor entries(std::vector<float> values) {
  std::vector<float> v;
  for (float x : values) v.insert(v.end(), 32 * 32, x);
  return Tensor(Shape{static_cast<std::int64_t>(values.size()), 1, 32, 32}, std::move(v));
}

// A promise that does not hold ends its test.
struct Broken {
  std::string promise;
};
void expect(bool holds, const std::string& promise) {
  if (!holds) throw Broken{promise};
}
template <class T>
T need(Result<T> result, const std::string& promise) {
  if (!result) throw Broken{promise + ": " + result.failure().diagnostics().front().message};
  return std::move(*result);
}
void need(const Result<void>& result, const std::string& promise) {
  if (!result) throw Broken{promise + ": " + result.failure().diagnostics().front().message};
}
template <class T>
void need_error(const Result<T>& result, const std::string& what) {
  expect(!result.ok(), what + " is an error");
  for (const Diagnostic& d : result.failure().diagnostics())
    expect(!d.code.empty() && !d.message.empty(), what + ": the error has a code and a message");
}

class Suite {
 public:
  Suite(runtime::Target& target, const device::DeviceDescriptor& device, runtime::Program program, Host& host)
      : target_(target), device_(device), program_(std::move(program)), host_(host) {}

  int run() {
    for (const auto& [name, test] : tests_) {
      try {
        (this->*test)();
        std::cout << "ok      " << name << '\n';
      } catch (const Broken& broken) {
        std::cout << "BROKEN  " << name << ": " << broken.promise << '\n';
        ++broken_;
      }
    }
    std::cout << tests_.size() - broken_ << " of " << tests_.size() << " promises hold\n";
    return broken_ == 0 ? 0 : 1;
  }

 private:
  std::unique_ptr<runtime::Device> open() {
    auto device = need(target_.open(program_, device_, host_), "open takes a netlist that keeps the rules");
    need(device->write("w", 0, entries({10})), "a ram is written");
    return device;
  }
  static Tensor run_on(runtime::Device& device, const std::vector<float>& inputs) {
    need(device.push("x", entries(inputs)), "a queue with room is pushed to");
    need(device.run("run", {{"$p_loop_count", static_cast<std::int64_t>(inputs.size())}}), "a program whose inputs are there runs");
    return need(device.pop("y", static_cast<std::int64_t>(inputs.size())), "what was computed is popped");
  }

  void queues() {
    auto device = open();
    expect(need(device->waiting("y"), "waiting tells of an empty queue") == 0, "a queue is empty at first");
    need(device->push("x", entries({1, 2, 3, 4})), "a queue takes as many entries as it has");
    expect(need(device->waiting("x"), "waiting tells of a full queue") == kEntries, "what was pushed waits");
    need_error(device->push("x", entries({5})), "pushing to a full queue");
    need_error(device->pop("y", 1), "popping from an empty queue");
    const Tensor first = need(device->read("x", 0, 1), "entries can be looked at");
    expect(first.shape() == Shape{1, 1, 32, 32}, "an entry is (w, z, r, c)");
    expect(need(device->waiting("x"), "waiting") == kEntries, "reading takes nothing");
  }
  void names() {
    auto device = open();
    need_error(device->push("nowhere", entries({1})), "pushing to a queue that is not there");
    need_error(device->pop("nowhere", 1), "popping from a queue that is not there");
    need_error(device->waiting("nowhere"), "waiting for a queue that is not there");
    need_error(device->start("nothing", {}), "a program that is not there");
    need_error(device->start("run", {}), "a parameter without a value");
  }
  void outputs() {
    auto device = open();
    expect(run_on(*device, {1, 2}).shape() == Shape{2, 1, 32, 32}, "an execution writes an entry");
    expect(need(device->waiting("x"), "waiting") == 0, "a program that advances the read pointer frees the queue");
    for (int i = 0; i < 5; ++i) run_on(*device, {3, 4, 5});  // around the queue, several times
    expect(need(device->waiting("y"), "waiting") == 0, "what was popped is gone");
  }
  void same_results() {
    host_.threads = 1;
    const Tensor one = run_on(*open(), {1, 2, 3});
    host_.threads = 3;
    auto device = open();
    expect(run_on(*device, {1, 2, 3}) == one, "results do not depend on threads");
    host_.threads = 1;
    auto other = open();
    need(other->push("x", entries({1, 2, 3})), "push");
    need(other->start("run", {{"$p_loop_count", 3}}), "a program starts");
    for (std::int64_t n = 1; n <= 3; ++n) need(other->advance(runtime::Until::holds("y", n)), "a program advances");
    const auto last = need(other->advance(runtime::Until::idle()), "a program advances to its end");
    expect(last.state == runtime::State::idle, "a program whose inputs are there ends");
    expect(need(other->pop("y", 3), "pop") == one, "results do not depend on slices");
  }
  void waiting_for_the_host() {
    auto device = open();
    need(device->push("x", entries({1})), "push");
    // Devices that do everything in start() cannot wait, and say so.
    auto started = device->start("run", {{"$p_loop_count", 2}});
    if (!started) return need_error(started, "a program without its inputs");
    auto progress = need(device->advance(runtime::Until::idle()), "a program that waits for the host has not failed");
    expect(progress.state == runtime::State::needs_host, "a program without its inputs waits for the host");
    expect(progress.waits.size() == 1 && progress.waits[0].queue == "x" && progress.waits[0].what == runtime::Wait::For::push,
           "it says for which queue");
    expect(!progress.waits[0].reason.message.empty(), "it says why");
    need(device->push("x", entries({2})), "a waiting program's queue is pushed to");
    progress = need(device->advance(runtime::Until::idle()), "it goes on");
    expect(progress.state == runtime::State::idle, "and ends");
    expect(need(device->pop("y", 2), "pop") == run_on(*open(), {1, 2}), "with the results of a run that did not wait");
    need(device->start("run", {{"$p_loop_count", 1}}), "start");
    need(device->advance(runtime::Until::idle()), "advance");
    need(device->start("run", {{"$p_loop_count", 1}}), "a program that waits is given up by the next");
    need_error(device->run("run", {{"$p_loop_count", 1}}), "run, which nobody serves, where the program waits");
  }

  runtime::Target& target_;
  const device::DeviceDescriptor& device_;
  runtime::Program program_;
  Host& host_;
  std::size_t broken_ = 0;
  const std::vector<std::pair<const char*, void (Suite::*)()>> tests_ = {{"queues are filled, looked at and emptied", &Suite::queues},
                                                                         {"unknown names are errors", &Suite::names},
                                                                         {"programs write what they compute", &Suite::outputs},
                                                                         {"equal inputs give equal results", &Suite::same_results},
                                                                         {"programs wait for the host", &Suite::waiting_for_the_host}};
};

Result<int> conform(const std::string& prefix, const std::string& name, const std::string& plugin_file) {
  auto files = io::make_real_file_system();
  Messages messages;
  Host host(*files, messages);
  host.share_dir = prefix + "/share/buda";
  plugin::SearchPath search;
  if (!plugin_file.empty()) search.files = {plugin_file};
  search.installed_directory = prefix + "/lib/buda/plugins/abi1";
  plugin::Registries plugins;
  BUDA_TRY(plugin::load_plugins(search, {plugin::Kind::target}, plugins, host));
  BUDA_ASSIGN(auto target, plugin::make(plugins, plugins.targets, plugin::Kind::target, name, {}, host));
  BUDA_ASSIGN(auto device, device::load_device(host, "n150"));
  runtime::Program program;
  BUDA_ASSIGN(program.netlist, netlist::parse_netlist(kNetlist, "conformance.yaml"));
  BUDA_TRY(runtime::complete_program(program, target->needs(), {}, device, host));
  return Suite(*target, device, std::move(program), host).run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::cerr << "usage: target_conformance PREFIX NAME [PLUGIN]\n";
    return 2;
  }
  auto code = conform(argv[1], argv[2], argc == 4 ? argv[3] : "");
  for (const Diagnostic& d : code.failure().diagnostics()) std::cerr << d.message << '\n';
  return code ? *code : 1;
}
