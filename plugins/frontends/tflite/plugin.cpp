// SPDX-License-Identifier: Apache-2.0
// The frontend `tflite`: models of TensorFlow Lite (docs/formats/tflite.md says what is read).
#include "graph_import.hpp"
#include "model.hpp"
#include "op_table.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/model_name.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <exception>

namespace buda::tflite_frontend {
namespace {

class TfliteFrontend final : public plugin::Frontend {
 public:
  TfliteFrontend(const ImportChoices& choices, std::string signature) : choices_(choices), signature_(std::move(signature)) {}

  int recognizes(std::string_view head, const std::string& file_name) const override {
    if (head.size() >= 8 && head.substr(4, 4) == "TFL3") return 100;
    return to_lower(file_name).ends_with(".tflite") ? 40 : 0;
  }

  std::vector<plugin::ReadOperator> operators() const override {
    std::vector<plugin::ReadOperator> out;
    for (const OpImporter* op : all_importers()) {
      std::string_view quantized = op->quantized == Exactness::exact ? "quantised: exact" : "quantised: through real numbers";
      out.push_back({std::string(name_of(*op)), cat(quantized, op->notes.empty() ? "" : "; ", op->notes)});
    }
    for (std::string_view name : custom_op_names()) out.push_back({std::string(name), std::string(find_custom_importer(name)->notes)});
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return out;
  }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    try {
      BUDA_ASSIGN(Model model, read_model(source));
      log_metadata(model, host);
      BUDA_TRY(choose_entry(model, signature_, host));
      Failure failure;
      if (auto inputs = resolve_inputs(model, options, choices_.states); !inputs) failure.add(std::move(inputs).failure());
      if (auto checked = check_model(model); !checked) failure.add(std::move(checked).failure());
      if (!failure.empty()) return failure;
      BUDA_ASSIGN(graph::Graph graph,
                  import_graph(model, options.name.empty() ? frontend::model_name(source.path) : options.name, choices_, host));
      refer_to_file(graph, source.bytes, source.path);
      return graph;
    } catch (const std::bad_alloc&) {
      return input_error("TF005", {source.path}, "does not fit in this machine's memory");
    }
  }

 private:
  ImportChoices choices_;
  std::string signature_;
};

}  // namespace
}  // namespace buda::tflite_frontend

BUDA_PLUGIN(.name = "tflite", .version = "1.0", .description = "reads TensorFlow Lite models", .license = "Apache-2.0") {
  using namespace buda::tflite_frontend;
  buda::schema::OptionSpec arithmetic{
      .name = "arithmetic",
      .type = buda::schema::OptionType::choice,
      .summary = "quantised models: exact: integers with the reference's rounding; real: the numbers that they stand for"};
  arithmetic.choices = {"exact", "real"};
  arithmetic.default_text = "exact";
  buda::schema::OptionSpec hybrid{
      .name = "hybrid",
      .type = buda::schema::OptionType::choice,
      .summary = "real numbers times 8-bit weights: real: the numbers that the weights stand for; exact: the reference's rounding"};
  hybrid.choices = {"exact", "real"};
  hybrid.default_text = "real";
  buda::schema::OptionSpec state{.name = "state",
                                 .type = buda::schema::OptionType::choice,
                                 .summary = "states: passed: inputs and outputs of the graph; initial: each run begins as the first one"};
  state.choices = {"passed", "initial"};
  state.default_text = "passed";
  buda::schema::OptionSpec signature{
      .name = "signature",
      .type = buda::schema::OptionType::text,
      .summary = "the signature that is imported; where it is not given: the only one, serving_default, or that of the first subgraph"};
  signature.default_text = "";
  registrar.add_frontend(
      {.name = "tflite",
       .summary = "TensorFlow Lite models (.tflite)",
       .options = {arithmetic, hybrid, state, signature},
       .make = [](const buda::schema::OptionValues& options, buda::Host&) -> buda::Result<std::unique_ptr<buda::plugin::Frontend>> {
         ImportChoices choices;
         if (options.text("arithmetic") == "real") choices.arithmetic = Arithmetic::real;
         if (options.text("hybrid") == "exact") choices.hybrid = Arithmetic::exact;
         if (options.text("state") == "initial") choices.states = StateOption::initial;
         return std::unique_ptr<buda::plugin::Frontend>(std::make_unique<TfliteFrontend>(choices, options.text("signature")));
       }});
}
