// SPDX-License-Identifier: Apache-2.0
// The frontend `stablehlo`: modules of StableHLO (docs/formats/stablehlo.md says what is read).
#include "bytecode_reader.hpp"
#include "graph_import.hpp"
#include "op_table.hpp"
#include "text_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/model_name.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>

#include <exception>

namespace buda::stablehlo {
namespace {

class StableHloFrontend final : public plugin::Frontend {
 public:
  explicit StableHloFrontend(std::string function) : function_(std::move(function)) {}

  int recognizes(std::string_view head, const std::string& file_name) const override {
    if (head.starts_with(kBytecodeMagic)) return 90;
    const std::string name = to_lower(file_name);
    const bool names_it = name.ends_with(".mlir") || name.ends_with(".stablehlo");
    for (std::string_view word : {"stablehlo.", "chlo.", "func.func", "module @", "module {", "mhlo."})
      if (head.find(word) != std::string_view::npos) return names_it ? 90 : 60;
    return names_it ? 40 : 0;
  }

  std::vector<plugin::ReadOperator> operators() const override {
    std::vector<plugin::ReadOperator> out;
    for (const OpImporter* op : all_importers()) out.push_back({std::string(op->name), std::string(op->notes)});
    return out;
  }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    static_cast<void>(host);
    try {
      const std::string_view bytes = source.bytes.view();
      const bool is_bytecode = bytes.starts_with(kBytecodeMagic);
      BUDA_ASSIGN(Module module, is_bytecode ? read_bytecode(source.path, source.bytes) : read_text(source.path, source.bytes));
      BUDA_ASSIGN(graph::Graph graph,
                  import_graph(module, options.name.empty() ? frontend::model_name(source.path) : options.name, function_, options));
      refer_to_file(graph, source.bytes, source.path);
      return graph;
    } catch (const std::bad_alloc&) {
      return input_error("SH002", {source.path}, "does not fit in this machine's memory");
    }
  }

 private:
  std::string function_;
};

}  // namespace
}  // namespace buda::stablehlo

BUDA_PLUGIN(.name = "stablehlo", .version = "1.0", .description = "reads StableHLO modules", .license = "Apache-2.0") {
  buda::schema::OptionSpec function{
      .name = "function", .type = buda::schema::OptionType::text, .summary = "the function of the module that is imported"};
  function.default_text = "main";
  registrar.add_frontend(
      {.name = "stablehlo",
       .summary = "StableHLO modules, as MLIR text or portable bytecode (.mlir, .mlirbc)",
       .options = {function},
       .make = [](const buda::schema::OptionValues& options, buda::Host&) -> buda::Result<std::unique_ptr<buda::plugin::Frontend>> {
         return std::unique_ptr<buda::plugin::Frontend>(std::make_unique<buda::stablehlo::StableHloFrontend>(options.text("function")));
       }});
}
