// Running what was balanced on the golden target.
#pragma once

#include "golden/device.hpp"
#include "unit/balance/fixture.hpp"

#include <buda/balance/emit/plan_builder.hpp>
#include <buda/netlist/text/write.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace buda::balance {

// A golden device that ignores formats, or takes them exactly.
class Golden final : public runtime::Target {
 public:
  explicit Golden(arith::Mode mode = arith::Mode::fp32) : mode_(mode) {}
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host& host) override {
    BUDA_ASSIGN(auto device, golden::GoldenDevice::make(program, {mode_}, host));
    return std::unique_ptr<runtime::Device>(std::move(device));
  }

 private:
  arith::Mode mode_;
};

// What is run of a balanced graph.
inline Result<runtime::Model> model_of(const Balanced& b) {
  runtime::Model model;
  model.path = "net.yaml";
  model.device = *b.problem.device;
  model.program.netlist = b.built.netlist;
  BUDA_ASSIGN(auto plan, build_plan(b.graph, b.problem, b.built.queues,
                                    {"net.yaml", "net.safetensors", [](const std::string& p) { return p; },
                                     [](const std::string&) { return false; }}));
  model.plan = plan.plan;
  for (const auto& p : plan.plan.parameters) {
    BUDA_ASSIGN(auto tensor, host_plan::apply_transforms(plan.tensors.at(p.tensor), p.transforms));
    model.parameters.emplace(p.queue, std::move(tensor));
  }
  return model;
}

// Batch after batch on golden has the bits of the graph, which must be exact: small whole numbers, say.
inline void expect_same_bits(const graph::Graph& graph, const Balanced& b, const std::vector<NamedTensors>& batches) {
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  Golden golden(golden::Mode::exact);
  auto model = model_of(b);
  ASSERT_TRUE(model.ok()) << text_of(model.failure());
  auto session = runtime::Session::open(std::move(*model), golden, *b.problem.device, host);
  ASSERT_TRUE(session.ok()) << text_of(session.failure());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    auto wanted = ops::evaluate_graph(graph, batches[i]);
    ASSERT_TRUE(wanted.ok()) << text_of(wanted.failure());
    auto found = (*session)->run(batches[i]);
    ASSERT_TRUE(found.ok()) << text_of(found.failure());
    for (const auto& [name, tensor] : *wanted) EXPECT_TRUE(found->at(name).to_f32() == tensor.to_f32()) << name << ", batch " << i;
  }
}

}  // namespace buda::balance
