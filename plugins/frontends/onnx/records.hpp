// The outer layers of an ONNX file, read without protobuf, so that weights stay where they are in the file.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::onnx_frontend {

// One field of a protobuf message: its number, its kind, and where it lies in the bytes that hold the message.
struct WireField {
  std::uint32_t number = 0;
  std::uint32_t type = 0;   // 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
  std::size_t begin = 0;    // of the whole field, tag included
  std::size_t payload = 0;  // of what follows the tag (and the length)
  std::size_t end = 0;
  std::uint64_t varint = 0;  // the value of a varint
};

// Walks over the fields of one message. What is not well formed ends the walk with an error that says where.
class WireReader {
 public:
  // `base` is where `message` begins in the file, for messages.
  explicit WireReader(std::string_view message, std::size_t base = 0) : message_(message), base_(base) {}
  bool at_end() const { return position_ >= message_.size(); }
  Result<WireField> next();

 private:
  std::optional<std::uint64_t> varint();
  Diagnostic malformed(std::string_view what) const;

  std::string_view message_;
  std::size_t base_;
  std::size_t position_ = 0;
};

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
