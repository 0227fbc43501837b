// SPDX-License-Identifier: Apache-2.0
// Recognition of the files of a compilation, and the way from one to another.
#include <buda/cli/file_kind.hpp>

#include <buda/base/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string tar_head() { return std::string(257, 'a') + "ustar  "; }

TEST(FileKind, IsToldByContent) {
  const std::pair<std::string, FileKind> examples[] = {
      {std::string("\x08\x08\x12\x07pytorch", 11), FileKind::model},
      {std::string("\x1c\0\0\0TFL3", 8), FileKind::tflite_model},
      {cat(std::string("PK\x03\x04"), std::string(22, '\0'), std::string("\x0a\0\0\0", 4), "m/data.pkl"), FileKind::torchscript_model},
      {"ML\xefR\x0dStableHLO_v1.0.0", FileKind::stablehlo_module},
      {"#map = affine_map<(d0) -> (d0)>\n// an MLP\nmodule @jit_f attributes {} {\n", FileKind::stablehlo_module},
      {"  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {", FileKind::stablehlo_module},
      {std::string("\x08\x01\x12\xd0\x0f\x0a\x07", 7), FileKind::tensorflow_model},
      {std::string("\x0a\x09\x0a\x01x\x12\x04Relu", 11), FileKind::tensorflow_model},
      {"\nnode {\n  name: \"x\"\n", FileKind::tensorflow_model},
      {R"({"schema": "buda.telemetry/1"})", FileKind::telemetry},
      {R"({"schema": "buda.graph/1", "name": "g", "level": "tensor"})", FileKind::tensor_graph},
      {"\n{\n  \"schema\" : \"buda.graph/1\",\n  \"level\": \"device\"", FileKind::device_graph},
      {R"({"schema": "buda.host-plan/1"})", FileKind::host_plan},
      {R"({"schema": "buda.placement-report/1"})", FileKind::placement_report},
      {R"({"schema": "buda.pipes/1",)", FileKind::pipes},
      {R"({"schema": "buda.blob/1",)", FileKind::stream_programs},
      {"# by hand\ndevices: {arch: grayskull}\n", FileKind::netlist},
      {"test-config:\n  queues: 3\nqueues:\n", FileKind::netlist},
      {"# buda.pipegen/1\ngraph_name: fwd\n---\n", FileKind::pipes},
      {"---\nbuffer_100000000000:\n  uniqid: 100000000000\n", FileKind::pipes},
      {"dram_blob:\n", FileKind::stream_programs},
      {tar_head(), FileKind::image},
  };
  for (const auto& [head, kind] : examples) EXPECT_EQ(file_kind(head), kind) << head;
}

TEST(FileKind, IsUnknownForAllElse) {
  for (const std::string head :
       {"", "{", "hello", R"({"schema": "buda.device/1"})", R"({"schema": 1})", R"({"schema")", "schema: buda.device/1\n", "  queues:\n",
        "buffer_:\n", "buffer_x1:\n", "pipes:\n", "\x93NUMPY", "PK\x03\x04"})
    EXPECT_EQ(file_kind(head), FileKind::unknown) << head;
  EXPECT_EQ(file_kind(std::string("queues:\0", 8)), FileKind::unknown);
}

TEST(FileKind, WhatComesTooEarlyGetsTheCommandsInBetween) {
  const Diagnostic d = wrong_kind("netlist2pipe", {"models/digits.onnx", {FileKind::netlist}}, FileKind::model);
  EXPECT_EQ(d.code, "CL009");
  EXPECT_EQ(d.loc.file, "models/digits.onnx");
  EXPECT_EQ(d.message, "is an ONNX model; netlist2pipe reads a netlist");
  EXPECT_EQ(d.hint,
            "first run: importer models/digits.onnx -o digits.graph.json && optimizer digits.graph.json -o digits.device.graph.json && "
            "balancer digits.device.graph.json -o digits.yaml");
  EXPECT_EQ(wrong_kind("pipegen", {"n.yaml", {FileKind::pipes}}, FileKind::netlist).hint, "first run: netlist2pipe n.yaml -o n.pipes");
  EXPECT_EQ(wrong_kind("runner", {"d.onnx", {FileKind::image, FileKind::netlist}}, FileKind::model).hint,
            "first run: buda compile d.onnx -o d.tti");
  EXPECT_THAT(wrong_kind("tti-pack info", {"d.device.graph.json", {FileKind::image}}, FileKind::device_graph).hint,
              HasSubstr("balancer d.device.graph.json -o d.yaml && tti-pack --netlist d.yaml -o d.tti"));
}

TEST(FileKind, WhatComesTooLateGetsTheNextCommand) {
  EXPECT_THAT(wrong_kind("balancer", {"d.tti", {FileKind::device_graph, FileKind::tensor_graph}}, FileKind::image).hint,
              HasSubstr("it is the input of a later stage: runner d.tti"));
  EXPECT_THAT(wrong_kind("netlist2pipe", {"-", {FileKind::netlist}}, FileKind::stream_programs).hint, HasSubstr("tti-pack"));
  EXPECT_THAT(wrong_kind("optimizer", {"n.yaml", {FileKind::tensor_graph}}, FileKind::netlist).hint,
              HasSubstr("netlist2pipe n.yaml -o n.pipes"));
}

TEST(FileKind, WhatIsNoStageGetsItsOwnAdvice) {
  EXPECT_EQ(wrong_kind("tt-smi", {"d.tti", {FileKind::telemetry}}, FileKind::image).hint,
            "it is written while an image runs: runner d.tti --inputs FILE --telemetry telemetry.json");
  EXPECT_EQ(wrong_kind("runner", {"t.json", {FileKind::image}}, FileKind::telemetry).hint, "it is shown by: tt-smi t.json");
  EXPECT_EQ(wrong_kind("optimizer", {"n.plan.json", {FileKind::tensor_graph}}, FileKind::host_plan).hint,
            "it goes with the netlist next to it, the input of a later stage: netlist2pipe NETLIST -o DIR");
}

// Every tool's kind and every other have advice, and it names a command.
TEST(FileKind, EveryPairHasAdvice) {
  constexpr FileKind kAll[] = {FileKind::model,
                               FileKind::tflite_model,
                               FileKind::torchscript_model,
                               FileKind::stablehlo_module,
                               FileKind::tensorflow_model,
                               FileKind::tensor_graph,
                               FileKind::device_graph,
                               FileKind::netlist,
                               FileKind::host_plan,
                               FileKind::placement_report,
                               FileKind::pipes,
                               FileKind::stream_programs,
                               FileKind::image,
                               FileKind::telemetry};
  for (FileKind wanted : kAll)
    for (FileKind found : kAll) {
      // No tool reads one of these and not ONNX.
      const bool is_other_model = wanted == FileKind::tflite_model || wanted == FileKind::torchscript_model ||
                                  wanted == FileKind::stablehlo_module || wanted == FileKind::tensorflow_model;
      if (wanted == found || is_other_model) continue;
      const Diagnostic d = wrong_kind("tool", {"m.x", {wanted}}, found);
      EXPECT_THAT(d.message, AnyOf(StartsWith("is a"), StartsWith("is telemetry")));
      EXPECT_GT(d.hint.size(), 20u);
    }
}

}  // namespace
}  // namespace buda::cli
