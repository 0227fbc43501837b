// SPDX-License-Identifier: Apache-2.0
// The frontend `tensorflow`: GraphDef and SavedModel (docs/formats/tensorflow.md says what is read).
#include "graph_import.hpp"
#include "model.hpp"
#include "op_table.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/model_name.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/tensor/tensor.hpp>

#include <google/protobuf/stubs/logging.h>

#include <exception>

namespace buda::tensorflow_frontend {
namespace {

// "models/kws.pb" gives "kws", and "models/kws/saved_model.pb" too.
std::string graph_name_for(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if ((name != "saved_model.pb" && name != "saved_model.pbtxt") || path.size() <= name.size() + 1) return frontend::model_name(path);
  const std::string folder = path.substr(0, path.size() - name.size() - 1);
  return folder.substr(folder.rfind('/') + 1);
}

class TensorFlowFrontend final : public plugin::Frontend {
 public:
  explicit TensorFlowFrontend(Choices choices) : choices_(std::move(choices)) {}

  int recognizes(std::string_view head, const std::string& file_name) const override { return certainty(head, file_name); }

  std::vector<plugin::ReadOperator> operators() const override {
    std::vector<plugin::ReadOperator> out;
    for (const OpImporter* op : all_importers()) out.push_back({std::string(op->type), std::string(op->notes)});
    return out;
  }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    // Protobuf throws and prints where this project returns; nothing of its gets past these lines.
    google::protobuf::LogSilencer quiet;
    try {
      BUDA_ASSIGN(Model model, read_model(source, choices_));
      BUDA_TRY(resolve_inputs(model, options));
      BUDA_ASSIGN(Imported imported, import_graph(model, options.name.empty() ? graph_name_for(source.path) : options.name, host));
      refer_to_file(imported.graph, source.bytes, source.path);
      for (const auto& [path, bytes] : imported.files) refer_to_file(imported.graph, bytes, path);
      return std::move(imported.graph);
    } catch (const std::bad_alloc&) {
      return input_error("GF005", {source.path}, "does not fit in this machine's memory");
    } catch (const std::exception& e) {
      return input_error("GF001", {source.path}, cat("cannot be read; protobuf says: ", e.what()));
    }
  }

 private:
  Choices choices_;
};

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::string_view part : split(text, ','))
    if (!trim(part).empty()) out.emplace_back(trim(part));
  return out;
}

schema::OptionSpec text_option(const char* name, const char* standard, const char* summary) {
  schema::OptionSpec out{.name = name, .type = schema::OptionType::text, .summary = summary};
  out.default_text = standard;
  return out;
}

}  // namespace
}  // namespace buda::tensorflow_frontend

BUDA_PLUGIN(.name = "tensorflow", .version = "1.0", .description = "reads TensorFlow models", .license = "Apache-2.0") {
  using namespace buda::tensorflow_frontend;
  registrar.add_frontend(
      {.name = "tensorflow",
       .summary = "TensorFlow models: frozen graphs (.pb, .pbtxt) and SavedModels",
       .options = {text_option("signature", "", "of a SavedModel: the signature that is imported; serving_default where it is not given"),
                   text_option("tag", "serve", "of a SavedModel: the graph with this tag"),
                   text_option("inputs", "", "of a graph: values that become inputs, in addition to placeholders, separated by commas"),
                   text_option("outputs", "", "of a graph: values that are outputs, separated by commas; else those that no node takes")},
       .make = [](const buda::schema::OptionValues& options, buda::Host&) -> buda::Result<std::unique_ptr<buda::plugin::Frontend>> {
         return std::unique_ptr<buda::plugin::Frontend>(std::make_unique<TensorFlowFrontend>(
             Choices{options.text("tag"), options.text("signature"), list_of(options.text("inputs")), list_of(options.text("outputs"))}));
       }});
}
