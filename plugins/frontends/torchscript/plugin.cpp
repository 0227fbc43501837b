// SPDX-License-Identifier: Apache-2.0
// The frontend `torchscript`: archives of torch.jit.save (docs/formats/torchscript.md says what is read).
#include "archive.hpp"
#include "graph_import.hpp"
#include "op_table.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/model_name.hpp>
#include <buda/graph/file/refer.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>

#include <exception>

namespace buda::torchscript {
namespace {

class TorchScriptFrontend final : public plugin::Frontend {
 public:
  explicit TorchScriptFrontend(std::string method) : method_(std::move(method)) {}

  int recognizes(std::string_view head, const std::string& file_name) const override {
    if (begins_like_archive(head)) return 90;
    const std::string name = to_lower(file_name);
    return name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".torchscript") ? 40 : 0;
  }

  std::vector<plugin::ReadOperator> operators() const override {
    std::vector<plugin::ReadOperator> out;
    for (const OpImporter* op : all_importers()) out.push_back({std::string(op->name), std::string(op->notes)});
    return out;
  }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    static_cast<void>(host);
    try {
      BUDA_ASSIGN(Archive archive, read_archive(source));
      BUDA_ASSIGN(graph::Graph graph,
                  import_graph(archive, options.name.empty() ? frontend::model_name(source.path) : options.name, method_, options));
      refer_to_file(graph, source.bytes, source.path);
      return graph;
    } catch (const std::bad_alloc&) {
      return input_error("TS006", {source.path}, "does not fit in this machine's memory");
    }
  }

 private:
  std::string method_;
};

}  // namespace
}  // namespace buda::torchscript

BUDA_PLUGIN(.name = "torchscript", .version = "1.0", .description = "reads TorchScript archives", .license = "Apache-2.0") {
  buda::schema::OptionSpec method{
      .name = "method", .type = buda::schema::OptionType::text, .summary = "the method of the model that is imported"};
  method.default_text = "forward";
  registrar.add_frontend(
      {.name = "torchscript",
       .summary = "TorchScript archives of PyTorch (.pt)",
       .options = {method},
       .make = [](const buda::schema::OptionValues& options, buda::Host&) -> buda::Result<std::unique_ptr<buda::plugin::Frontend>> {
         return std::unique_ptr<buda::plugin::Frontend>(std::make_unique<buda::torchscript::TorchScriptFrontend>(options.text("method")));
       }});
}
