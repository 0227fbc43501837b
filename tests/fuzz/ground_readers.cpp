// SPDX-License-Identifier: Apache-2.0
// Any bytes into a reader of the modules that all others stand on, as readers.cpp does into the others.
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/json.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/io/yaml.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <cstdlib>
#include <fuzz/check.hpp>
#include <fuzz/zip_checksums.hpp>
#include <unit/io/yaml_comparison.hpp>

namespace {

using namespace buda;

[[maybe_unused]] void fuzz_json(std::string text) {
  auto node = io::parse_json(text, "f");
  // What was read is written and read again as the same.
  if (check(node) && io::json_line(*io::parse_json(io::json_pretty(*node), "f")) != io::json_line(*node)) std::abort();
}

// The two readers of YAML agree on what both read.
[[maybe_unused]] void fuzz_yaml(std::string text) {
  check(io::parse_yaml_stream(text, "f"));
  if (!is_valid_utf8(text) || text.find('\0') != std::string::npos) return;
  for (bool repeated_keys : {false, true})
    if (!io::compare_yaml_readers(text, {repeated_keys}).difference.empty()) std::abort();
}

[[maybe_unused]] void fuzz_tensors(std::string text) {
  check(parse_tensors(io::Bytes(text), "f.pb"));
  if (text.starts_with("PK")) check(parse_tensors(io::Bytes(with_checksums(text)), "f"));
  check(parse_tensors(io::Bytes(std::move(text)), "f"));
}

[[maybe_unused]] void fuzz_graph(std::string text) {
  io::MemoryFileSystem fs;
  auto read = graph::parse_graph(fs, text, "f.json");
  if (check(read)) static_cast<void>(graph::graph_text(*read));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  READER(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
