// SPDX-License-Identifier: Apache-2.0
// The frontend `onnx`: models in the Open Neural Network Exchange format, opsets 1 to 25 (docs/formats/onnx.md says what is read).
#include "graph_import.hpp"
#include "model.hpp"
#include "op_table.hpp"
#include "records.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/model_name.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/tensor/tensor.hpp>

#include <new>

namespace buda::onnx_frontend {
namespace {

// A ModelProto has no magic number, but it begins with its fields in their order: the version of the format (1, a small number), then
// strings like the producer's name (2 to 6), opset imports (8) or the graph (7). A few fields that fit are proof enough against text.
bool looks_like_model(std::string_view head) {
  WireReader reader(head);
  auto first = reader.next();
  if (!first || first->number != 1 || first->type != 0 || first->varint == 0 || first->varint > 100 || reader.at_end()) return false;
  auto second = reader.next();
  // The graph, and nothing else, may be longer than what is shown here.
  if (!second) return head.size() > first->end && static_cast<unsigned char>(head[first->end]) == (7u << 3 | 2u);
  bool text = second->number >= 2 && second->number <= 6;
  return (text && (second->type == 2 || (second->number == 5 && second->type == 0))) ||
         ((second->number == 7 || second->number == 8) && second->type == 2);
}

class OnnxFrontend final : public plugin::Frontend {
 public:
  int recognizes(std::string_view head, const std::string& file_name) const override {
    bool named = to_lower(file_name).ends_with(".onnx");
    if (looks_like_model(head)) return named ? 90 : 60;
    return named ? 40 : 0;
  }

  std::vector<plugin::ReadOperator> operators() const override {
    std::vector<plugin::ReadOperator> out;
    for (std::string_view name : imported_op_types()) out.push_back({std::string(name), ""});
    for (std::string_view name : imported_contrib_op_types()) out.push_back({cat(kContribDomain, '.', name), ""});
    for (std::string_view name : imported_training_op_types()) out.push_back({cat(kTrainingDomain, '.', name), ""});
    return out;
  }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    // What libonnx throws about a model is caught where it is called.
    try {
      BUDA_ASSIGN(Model model, read_model(source, host));
      model.training = options.training;
      BUDA_TRY(prepare(model, options, host));
      BUDA_ASSIGN(graph::Graph graph, import_graph(model, options.name.empty() ? frontend::model_name(source.path) : options.name, host));
      refer_to_file(graph, source.bytes, source.path);
      for (const auto& [path, bytes] : model.tensor_files) refer_to_file(graph, bytes, path);
      return graph;
    } catch (const std::bad_alloc&) {
      return input_error("ON003", {source.path}, "does not fit in this machine's memory");
    }
  }

 private:
  static Result<void> prepare(Model& model, const plugin::ImportOptions& options, Host& host) {
    Failure failure;
    if (auto inputs = resolve_inputs(model, options); !inputs) failure.add(std::move(inputs).failure());
    if (auto checked = check_model(model); !checked) failure.add(std::move(checked).failure());
    if (!failure.empty()) return failure;
    return convert_model(model, host);
  }
};

}  // namespace
}  // namespace buda::onnx_frontend

BUDA_PLUGIN(.name = "onnx", .version = "1.0", .description = "reads ONNX models of opsets 1 to 25", .license = "Apache-2.0") {
  registrar.add_frontend(
      {.name = "onnx",
       .summary = "ONNX models (.onnx), opsets 1 to 25",
       .options = {},
       .make = [](const buda::schema::OptionValues&, buda::Host&) -> buda::Result<std::unique_ptr<buda::plugin::Frontend>> {
         return std::unique_ptr<buda::plugin::Frontend>(std::make_unique<buda::onnx_frontend::OnnxFrontend>());
       }});
}
