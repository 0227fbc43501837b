// SPDX-License-Identifier: Apache-2.0
// Parsing of ONNX files.
#include "model.hpp"

#include "op_table.hpp"
#include "records.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/values.hpp>
#include <buda/plugin/model_source.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/onnx_pb.h>

#include <limits>

namespace buda::onnx_frontend {
namespace {

template <class Message>
bool parse(Message& message, const std::string& bytes) {
  return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// f(node, index in its graph), for the nodes of subgraphs too.
template <class F>
void for_each_node(::onnx::GraphProto& graph, F f) {
  int index = 0;
  for (auto& node : *graph.mutable_node()) {
    f(node, index++);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) for_each_node(*attribute.mutable_g(), f);
  }
}

std::string file_name(const std::string& path) {
  if (path == io::kStdStream) return "<stdin>";
  return path.substr(path.rfind('/') + 1);
}

Result<void> read_initializers(Model& model, std::vector<TensorRecord>& records, Host& host) {
  Failure failure;
  TensorReader reader(model.path, host.fs());
  for (auto& record : records) {
    ::onnx::TensorProto header;
    if (!parse(header, record.header)) {
      failure.add(model.error("ON001", "is not a complete ONNX model: an initializer cannot be decoded"));
      continue;
    }
    std::string().swap(record.header);
    if (header.name().empty()) {
      failure.add(model.error("ON011", "has an initializer without a name"));
      continue;
    }
    auto tensor = reader.read(header, record.raw);
    if (!tensor) {
      for (Diagnostic& d : tensor.failure().diagnostics()) {
        if (!d.loc.file.empty())
          d.notes.push_back({{model.path}, cat("initializer '", header.name(), "' is stored in that file")});
        else
          d = model.error(d.code, cat("initializer '", header.name(), "' ", d.message));
        d.node = header.name();
        failure.add(std::move(d));
      }
    } else if (!model.initializers.emplace(header.name(), std::move(tensor).value()).second) {
      failure.add(model.error("ON011", cat("has two initializers named '", header.name(), "'")));
    } else if (narrow_type(header.data_type()) != nullptr) {
      model.narrow_initializers.emplace(header.name(), header.data_type());
    }
  }
  model.tensor_files = reader.files();
  if (!failure.empty()) return failure;
  return success();
}

Result<void> read_sparse_initializers(Model& model, Host& host) {
  TensorReader reader(model.path, host.fs());
  for (const auto& sparse : model.proto->graph().sparse_initializer()) {
    const std::string& name = sparse.values().name();
    auto tensor = reader.read(sparse);
    if (!tensor) return model.error("ON012", cat("initializer '", name, "' ", tensor.failure().diagnostics().front().message));
    if (name.empty() || !model.initializers.emplace(name, std::move(*tensor)).second)
      return model.error("ON011",
                         cat("has a sparse initializer ", name.empty() ? "without a name" : cat("whose name '", name, "' is taken")));
  }
  model.proto->mutable_graph()->clear_sparse_initializer();
  return success();
}

// The version of the default domain, and one spelling of its name.
Result<void> settle_domains(Model& model) {
  bool found = false;
  for (auto& opset : *model.proto->mutable_opset_import()) {
    if (opset.domain() == "ai.onnx") opset.clear_domain();
    if (opset.domain() != kDefaultDomain) continue;
    if (opset.version() < 0 || opset.version() > 1'000'000)
      return model.error("ON020", cat("imports the impossible opset ", opset.version()));
    auto version = static_cast<int>(opset.version());
    if (found && version != model.opset) return model.error("ON020", cat("imports both opset ", model.opset, " and opset ", version));
    model.opset = version;
    found = true;
  }
  // A model of other domains' operators alone need not say it; that these are not read, the check of operators tells.
  bool needed = model.proto->graph().node().empty();
  for (const auto& node : model.proto->graph().node()) needed = needed || node.domain().empty() || node.domain() == "ai.onnx";
  if (!found && !needed) model.opset = kNewestOpset;
  if (!found && needed)
    return model.error("ON020", "does not say which version of ONNX's operators it uses (no opset_import of domain ai.onnx)");
  for_each_node(*model.proto->mutable_graph(), [](::onnx::NodeProto& node, int) {
    if (node.domain() == "ai.onnx") node.clear_domain();
  });
  return success();
}

}  // namespace

std::string domain_name(std::string_view domain) { return domain == kDefaultDomain ? "ai.onnx" : std::string(domain); }

std::string domain_text(const Model& model, std::string_view domain) {
  for (const auto& opset : model.proto->opset_import())
    if (opset.domain() == domain) return cat("domain ", domain_name(domain), ", opset ", opset.version());
  return cat("domain ", domain_name(domain));
}

void name_nodes(Model& model) {
  for_each_node(*model.proto->mutable_graph(), [](::onnx::NodeProto& node, int index) {
    node.set_name(frontend::graph_name(node.name().empty() ? cat(node.op_type(), '_', index) : node.name()));
  });
}

Diagnostic Model::error(std::string code, std::string message) const {
  return input_error(std::move(code), {path == io::kStdStream ? "<stdin>" : path}, std::move(message));
}

Diagnostic node_error(const Model& model, const ::onnx::NodeProto& node, std::string code, std::string reason) {
  Diagnostic d = model.error(
      std::move(code), cat("node '", node.name(), "' (op type ", node.op_type(), ", ", domain_text(model, node.domain()), "): ", reason));
  d.node = node.name();
  d.data = {{"op_type", node.op_type()}, {"domain", domain_name(node.domain())}, {"opset", cat(model.opset)}};
  return d;
}

Result<Model> read_model(const plugin::ModelSource& source, Host& host) {
  Model model;
  model.path = source.path;
  model.file = file_name(source.path);
  if (source.bytes.empty()) return model.error("ON001", "is empty, and so not an ONNX model");
  auto records = take_apart(source.bytes);
  if (!records) {
    const Diagnostic& d = records.failure().diagnostics().front();
    return model.error(d.code, d.message);
  }
  model.proto = std::make_shared<::onnx::ModelProto>();
  if (!parse(*model.proto, records->model))
    return model.error("ON001", "is not a complete ONNX model: its outermost fields cannot be decoded");
  if (!records->has_graph) return model.error("ON001", "is not an ONNX model: it has no graph");
  if (!parse(*model.proto->mutable_graph(), records->graph))
    return model.error("ON001", "is not a complete ONNX model: its graph cannot be decoded");
  std::string().swap(records->graph);
  BUDA_TRY(settle_domains(model));
  name_nodes(model);
  sort_nodes(*model.proto);
  BUDA_TRY(read_initializers(model, records->initializers, host));
  BUDA_TRY(read_sparse_initializers(model, host));
  return model;
}

}  // namespace buda::onnx_frontend
