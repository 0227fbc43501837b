// SPDX-License-Identifier: Apache-2.0
// Images on targets, graphs on the host.
#include "apps/trainer/opened.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/image/device_match.hpp>
#include <buda/image/image.hpp>
#include <buda/io/process.hpp>
#include <buda/io/sha256.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/plugin/target.hpp>
#include <buda/runtime/model/graph_model.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>

namespace buda::trainer {
namespace {

Result<device::DeviceDescriptor> descriptor(const Options& o, const runtime::Model& model, cli::ToolHost& host) {
  if (!o.device.empty()) return device::load_device(host, o.device);
  if (model.device) return *model.device;
  return device::load_device(host, model.plan.device);
}

Result<void> open_graph(const Options& o, const io::Bytes& bytes, Opened& out, cli::ToolHost& host) {
  if (!o.check_samples && !o.target.empty() && o.target != kCpu) {
    Diagnostic d = usage_error("TR003", cat("option --target: '", o.model, "' is a graph, which only target cpu evaluates"));
    d.hint = cat("compile it first: ", io::shell_line({"buda", "compile", o.model}));
    return d;
  }
  BUDA_ASSIGN(auto graph, graph::parse_graph(host.fs(), bytes.view(), o.model));
  BUDA_ASSIGN(auto model, runtime::model_of_graph(std::move(graph), o.model));
  out.graph = model.host_graphs.begin()->second;
  struct NoTarget final : runtime::Target {
    Result<std::unique_ptr<runtime::Device>> open(const runtime::Program&, const device::DeviceDescriptor&, Host&) override {
      return internal_error("a graph needs no device");
    }
  };
  out.target = std::make_unique<NoTarget>();
  BUDA_ASSIGN(out.session, runtime::Session::open(std::move(model), *out.target, device::DeviceDescriptor(), host));
  return success();
}

Result<void> open_image(const Options& o, const io::Bytes& bytes, Opened& out, cli::ToolHost& host) {
  const std::string name = o.target.empty() ? "golden" : o.target;
  if (name == kCpu) return usage_error("TR003", cat("option --target: cpu evaluates graphs; '", o.model, "' is an image"));
  BUDA_ASSIGN(out.target, plugin::make(host.plugins, host.plugins.targets, plugin::Kind::target, name,
                                       host.options_of(plugin::Kind::target, name), host));
  BUDA_ASSIGN(auto model, runtime::load_image(o.model, bytes));
  BUDA_ASSIGN(const auto device, descriptor(o, model, host));
  out.netlist_digest = io::sha256_hex(model.text.view());
  BUDA_ASSIGN(out.session, runtime::Session::open(std::move(model), *out.target, device, host));
  return success();
}

bool is_finite(const Tensor& tensor) {
  const std::vector<float> elements = is_float(tensor.dtype()) ? tensor.to_f32() : std::vector<float>();
  return std::all_of(elements.begin(), elements.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

Result<Opened> open(const Options& o, cli::ToolHost& host) {
  BUDA_ASSIGN(const auto bytes, host.fs().read(o.model));
  Opened out;
  BUDA_TRY(image::looks_like_image(bytes.view()) ? open_image(o, bytes, out, host) : open_graph(o, bytes, out, host));
  BUDA_ASSIGN(out.training, runtime::TrainingSession::make(*out.session));
  out.training->set_seed(host.seed);
  return out;
}

std::string first_not_finite(const Opened& opened, const NamedTensors& inputs, Host& host) {
  if (opened.graph == nullptr) return "";
  std::string found;
  ops::EvaluateOptions options;
  options.threads = host.threads;
  options.observe = [&](const graph::Node& n, std::span<const Tensor> results) {
    if (found.empty() && n.is_op() && !std::all_of(results.begin(), results.end(), is_finite))
      found = cat("'", n.name(), "' (", n.op(), ")");
  };
  const auto done = ops::evaluate_graph(*opened.graph, inputs, options);
  return done ? found : "";
}

}  // namespace buda::trainer
