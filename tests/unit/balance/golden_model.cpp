// SPDX-License-Identifier: Apache-2.0
#include "unit/balance/golden_model.hpp"

#include <buda/functional/device.hpp>
#include "unit/balance/fixture.hpp"

#include <buda/balance/emit/plan_builder.hpp>
#include <buda/base/rng.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/runtime/session.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>

namespace buda::balance {
namespace {

class Golden final : public runtime::Target {
 public:
  explicit Golden(arith::Mode mode) : mode_(mode) {}
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host& host) override {
    BUDA_ASSIGN(auto device, functional::make_device(program, {mode_}, host));
    return std::unique_ptr<runtime::Device>(std::move(device));
  }

 private:
  arith::Mode mode_;
};

}  // namespace

Result<runtime::Model> model_of(const Balanced& b) {
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

struct GoldenSession::Parts {
  explicit Parts(arith::Mode mode) : golden(mode) {}

  std::unique_ptr<io::FileSystem> fs = io::make_real_file_system();
  CollectingSink sink;
  Host host{*fs, sink};
  Golden golden;
  std::unique_ptr<runtime::Session> session;
};

GoldenSession::GoldenSession(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
GoldenSession::GoldenSession(GoldenSession&&) noexcept = default;
GoldenSession& GoldenSession::operator=(GoldenSession&&) noexcept = default;
GoldenSession::~GoldenSession() = default;

Result<GoldenSession> GoldenSession::open(const Balanced& b, arith::Mode mode) {
  BUDA_ASSIGN(auto model, model_of(b));
  auto parts = std::make_unique<Parts>(mode);
  BUDA_ASSIGN(parts->session, runtime::Session::open(std::move(model), parts->golden, *b.problem.device, parts->host));
  return GoldenSession(std::move(parts));
}

Result<NamedTensors> GoldenSession::run(const NamedTensors& inputs) { return parts_->session->run(inputs); }

NamedTensors integer_inputs(const graph::Graph& graph, std::uint64_t seed) {
  Rng rng(seed);
  NamedTensors out;
  for (auto id : graph.inputs()) {
    const auto& node = graph.node(id);
    Shape shape(std::get<std::vector<std::int64_t>>(node.attrs.at("model_shape")));
    std::vector<float> values(static_cast<std::size_t>(*shape.volume()));
    for (float& v : values) v = static_cast<float>(static_cast<int>(rng.below(3)) - 1);
    out.emplace(node.name(), Tensor(shape, std::move(values)));
  }
  return out;
}

void expect_same_bits(const graph::Graph& graph, const Balanced& b, const std::vector<NamedTensors>& batches) {
  auto session = GoldenSession::open(b, arith::Mode::exact);
  ASSERT_TRUE(session.ok()) << text_of(session.failure());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    auto wanted = ops::evaluate_graph(graph, batches[i]);
    ASSERT_TRUE(wanted.ok()) << text_of(wanted.failure());
    auto found = session->run(batches[i]);
    ASSERT_TRUE(found.ok()) << text_of(found.failure());
    for (const auto& [name, tensor] : *wanted) EXPECT_TRUE(found->at(name).to_f32() == tensor.to_f32()) << name << ", batch " << i;
  }
}

}  // namespace buda::balance
