// SPDX-License-Identifier: Apache-2.0
// Damaged graph files and tensor files: a diagnostic or a sound graph, never a crash. Most telling under the sanitizers.
#include <buda/graph/check/verify.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <gtest/gtest.h>

namespace buda::graph {
namespace {

const std::string kGraph = R"({
  "schema": "buda.graph/1",
  "name": "g",
  "level": "device",
  "inputs": ["x"],
  "outputs": ["y"],
  "nodes": [
    {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 1, 32, 64], "format": "Bfp8_b"}], "attrs": {"model_shape": [4, 40]}},
    {"name": "w", "op": "parameter", "types": [{"dtype": "F32", "shape": [1, 1, 32, 32]}], "value": "w"},
    {"name": "c", "op": "constant", "types": [{"dtype": "F16", "shape": [1, 1, 32, 32]}], "value": "c"},
    {"name": "m", "op": "matmul", "inputs": [{"from": "x", "port": 0, "tms": [{"hslice": 2}, "transpose", {"pad": [1, 0, 0.5]}]}, "w", "c"], "types": [{"dtype": "F32", "shape": [1, 2, 64, 32]}], "attrs": {"a": 1.5, "b": [1, 2], "c": {"real": "nan"}, "d": "t"}, "fidelity": "HiFi3", "tags": {"k": "v"}, "origins": [{"file": "m.onnx", "node": "n"}]},
    {"name": "y", "op": "output", "inputs": ["m"]}
  ],
  "tensors": [
    {"name": "w", "dtype": "F32", "shape": [2, 2], "file": "t.safetensors", "tensor": "v"},
    {"name": "c", "dtype": "F16", "shape": [3], "data": "AAAAAAAA"}
  ]
}
)";

// Reads, and does with what was read what every stage does.
void read_and_use(const std::string& graph, const std::string& tensors) {
  io::MemoryFileSystem fs;
  fs.put("g.json", graph);
  fs.put("t.safetensors", tensors);
  auto g = read_graph(fs, "g.json");
  if (!g) {
    ASSERT_FALSE(g.failure().empty());
    return;
  }
  ASSERT_TRUE(verify(*g, OpTypes::optional).empty());
  ASSERT_TRUE(write_graph(fs, *g, "out/g.json"));
  ASSERT_TRUE(read_graph(fs, "out/g.json"));
}

std::string tensor_file() {
  io::MemoryFileSystem fs;
  EXPECT_TRUE(write_tensors(fs, "t.safetensors", {{"v", Tensor(Shape{2, 2}, std::vector<float>{1, 2, 3, 4})}}));
  return std::string(fs.find("t.safetensors")->view());
}

TEST(CorruptGraphFile, IsSoundToBeginWith) {
  io::MemoryFileSystem fs;
  fs.put("g.json", kGraph);
  fs.put("t.safetensors", tensor_file());
  auto g = read_graph(fs, "g.json");
  ASSERT_TRUE(g) << g.failure().diagnostics()[0].message;
}

TEST(CorruptGraphFile, CutAtEveryByte) {
  std::string tensors = tensor_file();
  for (std::size_t length = 0; length + 2 < kGraph.size(); ++length) {
    io::MemoryFileSystem fs;
    fs.put("g.json", kGraph.substr(0, length));
    fs.put("t.safetensors", tensors);
    ASSERT_FALSE(read_graph(fs, "g.json")) << length;
  }
}

TEST(CorruptGraphFile, EveryByteChanged) {
  std::string tensors = tensor_file();
  for (std::size_t i = 0; i < kGraph.size(); ++i)
    for (unsigned char flip : {0x01, 0x02, 0x10, 0x80}) {
      std::string changed = kGraph;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
      read_and_use(changed, tensors);
    }
}

TEST(CorruptGraphFile, NumbersGoneWild) {
  std::string tensors = tensor_file();
  for (std::size_t i = 0; i < kGraph.size(); ++i) {
    if (kGraph[i] < '0' || kGraph[i] > '9') continue;
    for (auto number : {"-1", "0", "9223372036854775807", "18446744073709551616", "1e999", "0.5"})
      read_and_use(kGraph.substr(0, i) + number + kGraph.substr(i + 1), tensors);
  }
}

TEST(CorruptGraphFile, TensorFileCutOrChangedAtEveryByte) {
  std::string tensors = tensor_file();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    read_and_use(kGraph, tensors.substr(0, i));
    for (unsigned char flip : {0x01, 0x02, 0x10, 0x80}) {
      std::string changed = tensors;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
      read_and_use(kGraph, changed);
    }
  }
}

TEST(CorruptGraphFile, DeepAndLong) {
  std::string deep(100'000, '[');
  read_and_use(deep, "");
  std::string many = "{\"schema\": \"buda.graph/1\", \"name\": \"g\", \"level\": \"tensor\", \"nodes\": [";
  for (int i = 0; i < 20'000; ++i) many += "{\"name\": \"a\", \"op\": \"b\", \"inputs\": [\"nowhere" + std::to_string(i) + "\"]}, ";
  read_and_use(many + "{}]}", "");
}

}  // namespace
}  // namespace buda::graph
