// SPDX-License-Identifier: Apache-2.0
// The protocol of devices, promise by promise.
#include "apps/plugin-check/target_protocol.hpp"

#include <buda/base/text.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/runtime/streams.hpp>
#include <buda/tensor/tensor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace buda::plugin_check {
namespace {

using runtime::Device;
using runtime::Until;

constexpr std::int64_t kEntries = 4;  // of each queue

constexpr std::string_view kNetlist = R"(
queues:
  x: {type: queue, input: HOST, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r,
      df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x20000000]]}
  w: {type: ram, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r,
      df: Float16_b, target_device: 0, loc: dram, dram: [[1, 0x20000000]]}
  y: {type: queue, input: sum, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r,
      df: Float16_b, target_device: 0, loc: dram, dram: [[2, 0x20000000]]}
graphs:
  g:
    target_device: 0
    input_count: 1
    sum: {type: add, grid_loc: [0, 0], grid_size: [1, 1], inputs: [x, w], in_df: [Float16_b, Float16_b], out_df: Float16_b,
          intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r,
          buf_size_mb: 2}
programs:
  - run:
    - param: [$p_loop_count]
    - staticvar: {$p: 0}
    - loop: $p_loop_count
    - execute: {graph_name: g, queue_settings: {
        x: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $p, rd_ptr_global: $p},
        w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}}}
    - varinst: [$p, incwrap, 1, 8]
    - endloop
)";

Tensor entries(const std::vector<float>& values) {
  std::vector<float> v;
  for (float x : values) v.insert(v.end(), 32 * 32, x);
  return Tensor(Shape{static_cast<std::int64_t>(values.size()), 1, 32, 32}, std::move(v));
}

Result<void> expect(bool holds, std::string_view otherwise) {
  if (holds) return success();
  return broken(std::string(otherwise));
}

class Protocol {
 public:
  Protocol(runtime::Target& target, const device::DeviceDescriptor& device, Host& host) : target_(target), device_(device), host_(host) {}

  Result<void> load() {
    BUDA_ASSIGN(program_.netlist, netlist::parse_netlist(cat("devices: {arch: ", device_.arch, "}", kNetlist), "conformance.yaml"));
    return runtime::complete_program(program_, target_.needs(), {}, device_, host_);
  }

  bool check(bool must_run, Suite& suite) {
    suite.check("queues are filled, read and emptied, up to their capacity", queues());
    suite.check("queues, programs and parameters that do not exist are refused", names());
    auto device = open();
    if (auto able = device ? run_on(**device, {1}) : Result<Tensor>(device.failure()); !able && !must_run) {
      suite.check("what the target cannot run is refused", refuses(able, ""));
      suite.skip("programs write what they compute", able.failure().diagnostics().front().message);
      return false;
    }
    suite.check("programs write what they compute, and free what they have read", outputs());
    suite.check("equal inputs give equal results, with any number of threads and in any slices", same_results());
    suite.check("programs wait for the host, or say that they cannot", waiting_for_the_host());
    return true;
  }

 private:
  Result<std::unique_ptr<Device>> open() {
    BUDA_ASSIGN(auto device, target_.open(program_, device_, host_));
    if (device == nullptr) return broken("open() gave no device and no reason");
    BUDA_TRY(device->write("w", 0, entries({10})));
    return device;
  }

  static Result<Tensor> run_on(Device& device, const std::vector<float>& inputs) {
    auto count = static_cast<std::int64_t>(inputs.size());
    BUDA_TRY(device.push("x", entries(inputs)));
    BUDA_TRY(device.run("run", {{"$p_loop_count", count}}));
    return device.pop("y", count);
  }

  static Result<void> waits(Device& device, const char* queue, std::int64_t expected) {
    BUDA_ASSIGN(std::int64_t waiting, device.waiting(queue));
    return expect(waiting == expected, cat("queue '", queue, "' reports ", waiting, " entries instead of ", expected));
  }

  Result<void> queues() {
    BUDA_ASSIGN(auto device, open());
    BUDA_TRY(waits(*device, "y", 0));
    BUDA_TRY(device->push("x", entries({1, 2, 3, 4})));
    BUDA_TRY(waits(*device, "x", kEntries));
    BUDA_TRY(refuses(device->push("x", entries({5})), "an entry for a full queue"));
    BUDA_TRY(refuses(device->pop("y", 1), "taking an entry from an empty queue"));
    BUDA_ASSIGN(Tensor first, device->read("x", 0, 1));
    BUDA_TRY(expect(first.shape() == Shape{1, 1, 32, 32}, cat("an entry is ", first.shape().text(), " and not (w, z, r, c)")));
    return waits(*device, "x", kEntries);
  }

  Result<void> names() {
    BUDA_ASSIGN(auto device, open());
    BUDA_TRY(refuses(device->push("nowhere", entries({1})), "push() to an unknown queue"));
    BUDA_TRY(refuses(device->write("nowhere", 0, entries({1})), "write() to an unknown queue"));
    BUDA_TRY(refuses(device->pop("nowhere", 1), "pop() from an unknown queue"));
    BUDA_TRY(refuses(device->waiting("nowhere"), "waiting() of an unknown queue"));
    BUDA_TRY(refuses(device->read("nowhere", 0, 1), "read() of an unknown queue"));
    BUDA_TRY(refuses(device->start("nothing", {}), "start() of an unknown program"));
    return refuses(device->start("run", {}), "a parameter without a value");
  }

  Result<void> outputs() {
    BUDA_ASSIGN(auto device, open());
    BUDA_ASSIGN(Tensor two, run_on(*device, {1, 2}));
    BUDA_TRY(expect(two.shape() == Shape{2, 1, 32, 32}, cat("two executions write ", two.shape().text())));
    BUDA_TRY(waits(*device, "x", 0));
    for (int i = 0; i < 5; ++i) BUDA_TRY(run_on(*device, {3, 4, 5}));  // several times around the queue
    return waits(*device, "y", 0);
  }

  Result<void> same_results() {
    const unsigned threads = host_.threads;
    auto on = [&](unsigned count) -> Result<Tensor> {
      host_.threads = count;
      BUDA_ASSIGN(auto device, open());
      return run_on(*device, {1, 2, 3});
    };
    auto one = on(1), three = on(3);
    host_.threads = threads;
    if (!one) return one.failure();
    if (!three) return three.failure();
    BUDA_TRY(expect(*one == *three, "one thread and three give different results"));
    BUDA_ASSIGN(auto device, open());
    BUDA_TRY(device->push("x", entries({1, 2, 3})));
    BUDA_TRY(device->start("run", {{"$p_loop_count", 3}}));
    for (std::int64_t n = 1; n <= 3; ++n) BUDA_TRY(device->advance(Until::holds("y", n)));
    BUDA_ASSIGN(auto last, device->advance(Until::idle()));
    BUDA_TRY(expect(last.state == runtime::State::idle, "a program whose inputs are there does not end"));
    BUDA_ASSIGN(Tensor sliced, device->pop("y", 3));
    return expect(sliced == *one, "a program that advances in slices gives other results");
  }

  Result<void> waiting_for_the_host() {
    BUDA_ASSIGN(auto device, open());
    BUDA_TRY(device->push("x", entries({1})));
    // A device that does everything in start() cannot wait.
    auto started = device->start("run", {{"$p_loop_count", 2}});
    if (!started) return refuses(started, "");
    BUDA_ASSIGN(auto progress, device->advance(Until::idle()));
    BUDA_TRY(expect(progress.state == runtime::State::needs_host, "a program without its inputs does not wait for the host"));
    bool says_so = progress.waits.size() == 1 && progress.waits[0].queue == "x" && progress.waits[0].what == runtime::Wait::For::push &&
                   !progress.waits[0].reason.message.empty();
    BUDA_TRY(expect(says_so, "it does not say for which queue it waits, and why"));
    BUDA_TRY(device->push("x", entries({2})));
    BUDA_ASSIGN(progress, device->advance(Until::idle()));
    BUDA_TRY(expect(progress.state == runtime::State::idle, "it does not continue when the entries for which it waited have arrived"));
    BUDA_ASSIGN(Tensor late, device->pop("y", 2));
    BUDA_ASSIGN(auto other, open());
    BUDA_ASSIGN(Tensor at_once, run_on(*other, {1, 2}));
    BUDA_TRY(expect(late == at_once, "waiting changes the results"));
    BUDA_TRY(device->start("run", {{"$p_loop_count", 1}}));
    BUDA_TRY(device->advance(Until::idle()));
    BUDA_TRY(device->start("run", {{"$p_loop_count", 1}}));  // gives up the one that waits
    return refuses(device->run("run", {{"$p_loop_count", 1}}), "run() of a program that waits for entries");
  }

  runtime::Target& target_;
  const device::DeviceDescriptor& device_;
  Host& host_;
  runtime::Program program_;
};

}  // namespace

bool check_protocol(runtime::Target& target, const device::DeviceDescriptor& device, bool must_run, Host& host, Suite& suite) {
  Protocol protocol(target, device, host);
  if (auto loaded = protocol.load(); !loaded) {
    suite.check("a netlist is compiled", loaded);
    return false;
  }
  return protocol.check(must_run, suite);
}

}  // namespace buda::plugin_check
