// SPDX-License-Identifier: Apache-2.0
// Importing in process.
#include "import_fixture.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/loader.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <set>

namespace buda::test {
namespace {

const plugin::Registries& plugins() {
  static const plugin::Registries loaded = [] {
    plugin::Registries out;
    auto fs = io::make_real_file_system();
    CollectingSink sink;
    Host host(*fs, sink);
    for (const char* name : {"onnx", "tflite", "torchscript", "stablehlo", "tensorflow", "native", "example"})
      if (auto r = plugin::load_plugin(cat(PLUGIN_DIR "/frontend_", name, ".so"), out, host); !r) ADD_FAILURE() << text_of(r.failure());
    return out;
  }();
  return loaded;
}

using PluginOptions = std::map<std::string, schema::OptionValues>;

// As `--set` has them.
std::vector<std::string> settings_of(const PluginOptions& options) {
  std::vector<std::string> out;
  for (const auto& [owner, values] : options)
    for (const auto& [name, texts] : values.all())
      for (const std::string& text : texts)
        if (!text.empty()) out.push_back(cat(owner, '.', name, '=', text));
  return out;
}

void keep_refused(const io::MemoryFileSystem& files, const importer::Options& options, const PluginOptions& of_plugins,
                  const Failure& failure, const std::string& folder) {
  static int count = 0;
  const std::string own = cat(folder, '/', count++);
  auto disk = io::make_real_file_system();
  auto keep = [&](const std::string& path, std::string_view content) {
    const std::string target = cat(own, '/', path);
    EXPECT_TRUE(disk->make_directories(target.substr(0, target.rfind('/'))));
    EXPECT_TRUE(disk->write(target, content));
  };
  for (const auto& [path, content] : files.files())
    if (!path.starts_with("out/") && !path.starts_with("/") && path != io::kStdStream) keep(path, content.view());
  nlohmann::json about = {{"model", options.model},
                          {"frontend", options.frontend},
                          {"dims", options.dims},
                          {"shapes", options.input_shapes},
                          {"values", options.values},
                          {"settings", settings_of(of_plugins)},
                          {"code", failure.diagnostics().front().code}};
  keep("options.json", about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::string text_of(const Failure& failure) {
  std::string out;
  for (const auto& d : failure.diagnostics()) {
    out += cat(d.code, ' ', d.message, '\n');
    for (const auto& n : d.notes) out += cat("  note: ", n.message, '\n');
    if (!d.hint.empty()) out += cat("  hint: ", d.hint, '\n');
  }
  return out;
}

ImportTest::ImportTest() { host_.plugins = plugins(); }

Result<graph::Graph> ImportTest::import(const std::string& bytes, std::vector<std::string> dims, const std::string& path) {
  fs_.put(path, bytes);
  importer::Options options{.model = path, .output = "out/m.graph.json", .frontend = {}, .name = {}, .dims = std::move(dims)};
  BUDA_TRY(run(options));
  return graph::read_graph(fs_, options.output);
}

Result<void> ImportTest::run(const importer::Options& options) {
  auto done = importer::run(options, host_);
  if (const char* folder = std::getenv("BUDA_KEEP_REFUSED"); folder != nullptr && !done)
    keep_refused(fs_, options, host_.plugin_options, done.failure(), folder);
  return done;
}

graph::Graph ImportTest::imported(const std::string& bytes, std::vector<std::string> dims) {
  auto graph = import(bytes, std::move(dims));
  if (!graph) {
    ADD_FAILURE() << text_of(graph.failure());
    return graph::Graph();
  }
  return std::move(graph).value();
}

std::vector<float> ImportTest::evaluated(const std::string& bytes, const std::vector<Tensor>& inputs, Shape* shape) {
  graph::Graph graph = imported(bytes);
  EXPECT_EQ(graph.inputs().size(), inputs.size());
  if (graph.inputs().size() != inputs.size() || graph.outputs().size() != 1) return {};
  NamedTensors named;
  for (std::size_t i = 0; i < inputs.size(); ++i) named.emplace(graph.node(graph.inputs()[i]).name(), inputs[i]);
  auto outputs = ops::evaluate_graph(graph, named);
  if (!outputs) {
    ADD_FAILURE() << text_of(outputs.failure());
    return {};
  }
  if (shape != nullptr) *shape = outputs->begin()->second.shape();
  return outputs->begin()->second.to_f32();
}

std::string ImportTest::refusal(const std::string& bytes, std::vector<std::string> dims) {
  auto graph = import(bytes, std::move(dims));
  EXPECT_EQ(fs_.find("out/m.graph.json"), nullptr) << "nothing may be written";
  return graph ? "imported" : text_of(graph.failure());
}

void ImportTest::expect_page_lists_operators(const std::string& frontend) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
  auto reader = plugin::make(host_.plugins, host_.plugins.frontends, plugin::Kind::frontend, frontend, {}, host_);
  ASSERT_TRUE(reader);
  std::string table = "| operator | notes |\n|---|---|\n";
  for (const auto& op : (*reader)->operators()) table += cat("| `", op.name, "` | ", op.notes, " |\n");
  const std::string begin = "<!-- written by unit_frontends -->\n", end = "<!-- end -->";
  const std::string path = cat(source, "/docs/formats/", frontend, ".md");
  auto fs = io::make_real_file_system();
  auto page = fs->read(path);
  ASSERT_TRUE(page);
  std::string text(page->view());
  const auto from = text.find(begin), to = text.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos);
  std::string wanted = cat(text.substr(0, from), begin, table, text.substr(to));
  if (std::getenv("BUDA_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(io::make_real_file_system()->write(path, wanted));
    return;
  }
  EXPECT_EQ(text, wanted) << "run `BUDA_UPDATE_DOCS=1 ctest -R unit.frontends`";
}

void ImportTest::expect_page_names_operators(const std::string& frontend) {
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
  auto reader = plugin::make(host_.plugins, host_.plugins.frontends, plugin::Kind::frontend, frontend, {}, host_);
  ASSERT_TRUE(reader);
  std::multiset<std::string> read, listed;
  for (const auto& op : (*reader)->operators()) read.insert(op.name);
  auto page = io::make_real_file_system()->read(cat(source, "/docs/formats/", frontend, ".md"));
  ASSERT_TRUE(page);
  const std::string_view text = page->view(), begin = "\n## Operators\n";
  const auto from = text.find(begin);
  ASSERT_NE(from, std::string_view::npos);
  const std::string_view section = text.substr(from + 1, text.find("\n## ", from + begin.size()) - from);
  for (std::string_view line : split(section, '\n')) {
    if (!line.starts_with("| ") || line.starts_with("| operator ")) continue;
    for (std::string_view name : split(line.substr(2, line.find(" |") - 2), ',')) listed.insert(std::string(trim(name)));
  }
  EXPECT_EQ(listed, read);
}

Tensor pattern(Shape shape, float phase) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.volume().value(); ++i) values.push_back(1.5f * std::sin(phase + 2.3f * static_cast<float>(i)));
  return Tensor(std::move(shape), std::move(values));
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << "at " << i;
}

}  // namespace buda::test
