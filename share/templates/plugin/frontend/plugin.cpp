// A frontend to start from. It reads files that end in .mine and hold one number, the width of a layer that is relu(2 * x).
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/plugin.hpp>

namespace {

using namespace buda;

class MyFrontend final : public plugin::Frontend {
 public:
  // 0: not mine; 100: mine by a magic number. The importer takes the surest frontend.
  int recognizes(std::string_view head, const std::string& file_name) const override {
    static_cast<void>(head);
    return file_name.ends_with(".mine") ? 70 : 0;
  }

  Result<graph::Graph> import(const plugin::ModelSource& source, const plugin::ImportOptions& options, Host& host) override {
    host.log(1, cat("reading ", source.bytes.size(), " bytes"));
    auto width = parse_int(trim(source.bytes.view()));
    // What is wrong with the input is returned, with its place and in words that help; never thrown, printed or asserted.
    if (!width || *width < 1) return input_error("MY001", {source.path, 1, 1}, "expected a width of at least 1");

    if (!options.dims.empty())
      return input_error("MY002", {source.path}, "the model has no dimension '" + options.dims.begin()->first + "'");
    if (!options.values.empty()) return input_error("MY003", {source.path}, "this frontend does not support values for inputs");
    if (!options.input_shapes.empty()) return input_error("MY004", {source.path}, "the model itself says which shape its input has");

    ops::Builder b(options.name.empty() ? "mine" : options.name);
    auto x = b.input("x", {1, *width});
    // named() is for the next node that is made, so constants come first.
    auto two = b.constant(2.0f);
    auto doubled = b.named("double").multiply(x, two);
    auto positive = b.named("relu").relu(doubled);
    b.output("y", positive);
    // Every node says what of the model it stems from, so that later tools can say so.
    const graph::Origin origin{source.path.substr(source.path.rfind('/') + 1), "line 1"};
    for (auto made : {doubled, positive}) b.node(made).origins = {origin};
    return b.finish();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "mine", .version = "0.1", .description = "what it is for, in one line", .license = "Apache-2.0") {
  registrar.add_frontend({.name = "mine",
                          .summary = "files that end in .mine",
                          .options = {},
                          .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<plugin::Frontend>> {
                            return std::unique_ptr<plugin::Frontend>(std::make_unique<MyFrontend>());
                          }});
}
