// SPDX-License-Identifier: Apache-2.0
// The functional device as a target of its own, so that no plugin is needed.
#include <buda/compiler/accuracy/golden_run.hpp>

#include <buda/functional/device.hpp>
#include <buda/runtime/batches.hpp>
#include <buda/runtime/observer.hpp>
#include <buda/runtime/session.hpp>
#include <buda/runtime/target.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>
#include <vector>

namespace buda::compiler {
namespace {

class GoldenTarget final : public runtime::Target {
 public:
  explicit GoldenTarget(arith::Mode mode) : mode_(mode) {}
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host& host) override {
    functional::DeviceOptions options;
    options.mode = mode_;
    return functional::make_device(program, options, host);
  }

 private:
  arith::Mode mode_;
};

class FirstResults final : public runtime::Observer {
 public:
  explicit FirstResults(const std::map<std::string, std::int64_t>& kept) : kept_(kept) {}

  bool wants(const netlist::Op& op) const override {
    const auto most = kept_.find(op.name);
    if (most == kept_.end()) return false;
    const auto made = made_.find(op.name);
    return made == made_.end() || static_cast<std::int64_t>(made->second.size()) < most->second;
  }
  void made(const netlist::Graph&, const netlist::Op& op, std::int64_t, const Tensor& value) override {
    if (wants(op)) made_[op.name].push_back(value);
  }
  Result<NamedTensors> results() const {
    NamedTensors out;
    for (const auto& [name, tensors] : made_) {
      BUDA_ASSIGN(auto whole, runtime::joined(tensors));
      out.emplace(name, std::move(whole));
    }
    return out;
  }

 private:
  const std::map<std::string, std::int64_t>& kept_;
  std::map<std::string, std::vector<Tensor>> made_;
};

}  // namespace

Result<GoldenRun> run_on_golden(runtime::Model model, const device::DeviceDescriptor& device, arith::Mode mode, const NamedTensors& inputs,
                                const std::map<std::string, std::int64_t>& kept, Host& host) {
  GoldenTarget target(mode);
  FirstResults results(kept);
  BUDA_ASSIGN(const auto session, runtime::Session::open(std::move(model), target, device, host));
  if (session->device() != nullptr && !kept.empty()) session->device()->observe(results);
  GoldenRun out;
  BUDA_ASSIGN(out.outputs, session->run(inputs));
  BUDA_ASSIGN(out.ops, results.results());
  return out;
}

}  // namespace buda::compiler
