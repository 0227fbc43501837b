// SPDX-License-Identifier: Apache-2.0
// Memory that cannot be got while a model is read is the machine's lack: each frontend says so, with the model's name.
#include "import_fixture.hpp"
#include "onnx_model.hpp"
#include "tflite_model.hpp"
#include "torchscript_archive.hpp"

#include <buda/base/text.hpp>
#include <buda/io/protobuf.hpp>
#include <buda/plugin/frontend.hpp>
#include <buda/plugin/loader.hpp>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

// More than this cannot be got: as where the system has no more, but the same on every machine.
std::atomic<std::size_t> largest_allocation = std::numeric_limits<std::size_t>::max();

}  // namespace

// Those of the plugins, too.
void* operator new(std::size_t size) {
  void* memory = size <= largest_allocation ? std::malloc(size) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace buda::test {
namespace {

struct LargeModel {
  const char* frontend;
  const char* code;
  std::string (*bytes)(const std::string& name);
};

std::string of_onnx(const std::string& name) {
  OnnxModel m = one_node("Relu", {{1, 4}});
  m.graph().set_doc_string(name);
  return m.bytes();
}

std::string of_tflite(const std::string& name) {
  TfliteModel m;
  const int x = m.input(name, {1, 4}), y = m.tensor("y", {1, 4});
  m.op(tfl::BuiltinOperator::RELU, {x}, {y});
  return m.output(y).bytes();
}

// A graph of one node.
std::string of_tensorflow(const std::string& name) {
  const auto message = [](const std::string& content) {
    std::string out;
    io::append_tag(out, 1, 2);
    io::append_varint(out, content.size());
    return out + content;
  };
  return message(message(name));
}

std::string of_stablehlo(const std::string& name) {
  return cat("func.func @main(%", name, ": tensor<2xf32>) -> tensor<2xf32> {\n  return %", name, " : tensor<2xf32>\n}\n");
}

std::string of_torchscript(const std::string& name) {
  TorchArchive m;
  m.forward("x: Tensor", cat("    ", name, " = torch.relu(x)\n    return ", name, '\n'));
  return m.bytes();
}

class LittleMemory : public ImportTest, public ::testing::WithParamInterface<LargeModel> {};

TEST_P(LittleMemory, IsSaid) {
  const LargeModel& large = GetParam();
  constexpr std::size_t kName = 4 << 20, kLargest = 1 << 20;
  const plugin::ModelSource model{"m", io::Bytes(large.bytes(std::string(kName, 'x')))};
  auto frontend = plugin::make(host_.plugins, host_.plugins.frontends, plugin::Kind::frontend, large.frontend, {}, host_);
  ASSERT_TRUE(frontend.ok());
  largest_allocation = kLargest;
  auto graph = (*frontend)->import(model, {}, host_);
  largest_allocation = std::numeric_limits<std::size_t>::max();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(text_of(graph.failure()), cat(large.code, " does not fit in this machine's memory\n"));
  EXPECT_EQ(graph.failure().diagnostics().front().loc.file, "m");
}

INSTANTIATE_TEST_SUITE_P(Frontends, LittleMemory,
                         ::testing::Values(LargeModel{"onnx", "ON003", of_onnx}, LargeModel{"tflite", "TF005", of_tflite},
                                           LargeModel{"tensorflow", "GF005", of_tensorflow}, LargeModel{"stablehlo", "SH002", of_stablehlo},
                                           LargeModel{"torchscript", "TS006", of_torchscript}),
                         [](const auto& tested) { return tested.param.frontend; });

}  // namespace
}  // namespace buda::test
