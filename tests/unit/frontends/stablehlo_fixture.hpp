// SPDX-License-Identifier: Apache-2.0
// Modules of StableHLO that are imported and evaluated in process.
#pragma once

#include "import_fixture.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <string>
#include <vector>

namespace buda::test {

using Texts = std::vector<std::string>;
using Floats = std::vector<float>;

class StableHlo : public ImportTest {
 protected:
  Result<graph::Graph> import_module(const std::string& text, const Texts& dims = {}, const Texts& values = {}, const Texts& shapes = {}) {
    fs_.put("dir/m.mlir", text);
    importer::Options options{.model = "dir/m.mlir",
                              .output = "out/m.graph.json",
                              .frontend = {},
                              .name = {},
                              .dims = dims,
                              .values = values,
                              .input_shapes = shapes};
    BUDA_TRY(ImportTest::run(options));
    return graph::read_graph(fs_, options.output);
  }

  NamedTensors run(const std::string& text, const std::vector<Tensor>& inputs = {}, const Texts& dims = {}) {
    auto graph = import_module(text, dims);
    if (!graph) {
      ADD_FAILURE() << text_of(graph.failure());
      return {};
    }
    NamedTensors named;
    for (std::size_t i = 0; i < inputs.size() && i < graph->inputs().size(); ++i)
      named.emplace(graph->node(graph->inputs()[i]).name(), inputs[i]);
    auto outputs = ops::evaluate_graph(*graph, named);
    if (outputs) return std::move(outputs).value();
    ADD_FAILURE() << text_of(outputs.failure());
    return {};
  }

  Floats one(const std::string& text, const std::vector<Tensor>& inputs = {}, const Texts& dims = {}) {
    auto outputs = run(text, inputs, dims);
    return outputs.size() == 1 ? outputs.begin()->second.to_f32() : Floats{};
  }

  std::string refused(const std::string& text, const Texts& dims = {}) {
    auto graph = import_module(text, dims);
    EXPECT_EQ(fs_.find("out/m.graph.json"), nullptr) << "nothing may be written";
    return graph ? "imported" : text_of(graph.failure());
  }
};

// A function with the given lines, whose last value is %r.
inline std::string function(const std::string& arguments, const std::string& result, const std::string& lines) {
  return cat("func.func public @main(", arguments, ") -> ", result, " {\n", lines, "  return %r : ", result, "\n}\n");
}

}  // namespace buda::test
