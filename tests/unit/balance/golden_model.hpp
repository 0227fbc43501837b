// Running what was balanced on the golden target.
#pragma once

#include "golden/device.hpp"
#include "unit/balance/fixture.hpp"

#include <buda/balance/emit/plan_builder.hpp>
#include <buda/netlist/text/write.hpp>
#include <buda/runtime/session.hpp>

#include <memory>
#include <string>
#include <utility>

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

}  // namespace buda::balance
