// SPDX-License-Identifier: Apache-2.0
// The outer layers of an ONNX file, read without protobuf, so that weights stay where they are in the file.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/protobuf.hpp>

#include <optional>
#include <string>
#include <vector>

namespace buda::onnx_frontend {

using io::WireField;
using io::WireReader;

// A TensorProto without its raw_data, and the raw_data.
struct TensorRecord {
  std::string header;
  std::optional<io::Bytes> raw;
};

// A ModelProto in three parts; the first two are serialized messages for protobuf to parse.
struct ModelRecords {
  std::string model;  // without the graph
  std::string graph;  // without its initializers
  bool has_graph = false;
  std::vector<TensorRecord> initializers;
};

// Costs a copy of everything but raw_data, which are slices of `file`. Errors are those of the encoding alone.
Result<ModelRecords> take_apart(const io::Bytes& file);

}  // namespace buda::onnx_frontend
