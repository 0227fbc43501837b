// SPDX-License-Identifier: Apache-2.0
// Importing in process: the importer's run() with an in-memory file system and the plugins of the build tree.
#pragma once

#include "apps/importer/run.hpp"

#include <buda/cli/tool.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace buda::test {

class ImportTest : public ::testing::Test {
 protected:
  ImportTest();

  // Writes the bytes to `path`, imports, and reads the graph back from what the importer wrote.
  Result<graph::Graph> import(const std::string& bytes, std::vector<std::string> dims = {}, const std::string& path = "dir/m.onnx");
  // The same for a model that must be fine; a failure is reported with its text.
  graph::Graph imported(const std::string& bytes, std::vector<std::string> dims = {});
  // The one output of the model for inputs in the order of the graph's inputs.
  std::vector<float> evaluated(const std::string& bytes, const std::vector<Tensor>& inputs, Shape* shape = nullptr);

  // Imports what is in the files. A refused model is kept in a folder of its own within that of BUDA_KEEP_REFUSED, where it is set, for tests
  // of the tools (tests/robustness/failing_compiles.py): its files, and options.json.
  Result<void> run(const importer::Options& options);

  // All diagnostics of an import that must fail: "CODE message" and a line for each note and hint.
  std::string refusal(const std::string& bytes, std::vector<std::string> dims = {});

  // The table in docs/formats/FRONTEND.md, which BUDA_UPDATE_DOCS writes anew.
  void expect_page_lists_operators(const std::string& frontend);
  // The same for a table that is written by hand, with several operators in a row.
  void expect_page_names_operators(const std::string& frontend);

  io::MemoryFileSystem fs_;
  CollectingSink sink_;
  cli::ToolHost host_{fs_, sink_};
};

std::string text_of(const Failure& failure);

// A tensor of small distinct numbers, positive and negative.
Tensor pattern(Shape shape, float phase = 0.5f);

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected, double tolerance = 1e-6);

}  // namespace buda::test
