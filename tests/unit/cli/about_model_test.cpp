// SPDX-License-Identifier: Apache-2.0
// What the giver of a model is told about files that he has never seen.
#include <buda/cli/about_model.hpp>

#include <gtest/gtest.h>

namespace buda::cli {
namespace {

const std::set<std::string> kMade = {"/tmp/b/m.yaml"};

TEST(AboutModel, TheNodeComesFirstAndTheFileIsANote) {
  Diagnostic d = input_error("PP001", {"/tmp/b/m.yaml", 7, 5}, "input 1: splice is not supported yet");
  d.node = "cat_3";
  d = about_model(d, "m.onnx", kMade, "/tmp");
  EXPECT_EQ(d.loc, (SourceLoc{"m.onnx", 0, 0}));
  EXPECT_EQ(d.message, "node 'cat_3': input 1: splice is not supported yet");
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(d.notes.front().loc, (SourceLoc{"/tmp/b/m.yaml", 7, 5}));
}

TEST(AboutModel, NoNoteNamesAFileThatGoes) {
  for (const std::string file : {"/tmp/buda-7-abc/m.yaml", "/tmp/b/buda-7/m.yaml"}) {
    const Diagnostic d = about_model(input_error("PA070", {file, 7, 5}, "input 'h' cannot be output 'y'"), "m.onnx", {file}, "/tmp");
    EXPECT_EQ(d.loc, (SourceLoc{"m.onnx", 0, 0}));
    EXPECT_EQ(d.notes.empty(), file.starts_with("/tmp/buda-")) << file;
  }
}

TEST(AboutModel, ALabelOfSeveralNodesNamesEachOfThem) {
  for (const std::string node : {"dense", "act", "out"}) {
    Diagnostic d = input_error("BL011", {}, "op 'dense + act + out' has no legal implementation");
    d.node = node;
    d.fault = Fault::fit;
    EXPECT_EQ(about_model(d, "m.onnx", kMade, "/tmp").message, d.message);
  }
}

TEST(AboutModel, WhatALaterStageRefusesIsNotSupportedYet) {
  Diagnostic d = input_error("NL402", {"/tmp/b/m.yaml", 7, 5}, "op 'mm': shapes differ");
  d.node = "mm";
  EXPECT_EQ(about_model(d, "m.onnx", kMade, "/tmp").message, "not supported yet: op 'mm': shapes differ");
  d.severity = Severity::warning;
  EXPECT_EQ(about_model(d, "m.onnx", kMade, "/tmp").message, "op 'mm': shapes differ");
  EXPECT_TRUE(about_model(d, "m.onnx", kMade, "/tmp").notes.empty());
}

TEST(AboutModel, WhatDoesNotFitIsNamedAfterTheModelToo) {
  const Diagnostic d =
      about_model(does_not_fit("BL011", "mm", "L1", 2, 1, "op 'mm' has no legal implementation", ""), "m.onnx", kMade, "/tmp");
  EXPECT_EQ(d.loc.file, "m.onnx");
  EXPECT_EQ(d.message, "op 'mm' has no legal implementation");
}

TEST(AboutModel, OtherFilesAndOptionsStay) {
  const Diagnostic of_device = input_error("DV010", {"mine.yaml", 3, 1}, "no name"), of_option = usage_error("CL001", "unknown option");
  EXPECT_EQ(about_model(of_device, "m.onnx", kMade, "/tmp").loc, of_device.loc);
  EXPECT_EQ(about_model(of_option, "m.onnx", kMade, "/tmp").message, of_option.message);
  EXPECT_EQ(about_model(of_option, "m.onnx", kMade, "/tmp").loc.file, "");
}

}  // namespace
}  // namespace buda::cli
