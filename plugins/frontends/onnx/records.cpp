// SPDX-License-Identifier: Apache-2.0
// Walking over protobuf's wire format.
//
// A message is a list of fields, each a tag (field number << 3 | wire type, a varint) and a payload; fields of one message may be
// concatenated in any grouping without changing its meaning (protobuf documentation, "Encoding"). That is what makes it possible to take
// the weights out: the fields that stay, put one after the other, are again a valid message, and no length has to be corrected.
#include "records.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {
namespace {

// Field numbers of onnx.proto.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphInitializer = 5;
constexpr std::uint32_t kTensorRawData = 9;

// Two bytes of a file can become an object of some hundred bytes, so their number is bounded before memory is asked for. The largest
// language models have some ten thousand nodes and tensors.
constexpr std::size_t kMaxRecords = 1u << 20;

void append(std::string& out, std::string_view message, const WireField& field) {
  out.append(message.substr(field.begin, field.end - field.begin));
}

Result<WireField> next_of(WireReader& reader) {
  auto field = reader.next();
  if (!field) return input_error("ON001", {}, cat("is not a complete ONNX model: ", field.failure().diagnostics().front().message));
  return field;
}

Result<TensorRecord> take_tensor_apart(const io::Bytes& file, std::size_t begin, std::size_t end) {
  TensorRecord out;
  std::string_view message = file.view().substr(begin, end - begin);
  WireReader reader(message, begin);
  while (!reader.at_end()) {
    BUDA_ASSIGN(WireField field, next_of(reader));
    if (field.number == kTensorRawData && field.type == 2) {
      out.raw = file.slice(begin + field.payload, field.end - field.payload);
    } else {
      append(out.header, message, field);
    }
  }
  return out;
}

}  // namespace

Result<ModelRecords> take_apart(const io::Bytes& file) {
  ModelRecords out;
  std::size_t records = 0;
  WireReader model(file.view());
  while (!model.at_end()) {
    BUDA_ASSIGN(WireField top, next_of(model));
    if (top.number != kModelGraph || top.type != 2) {
      append(out.model, file.view(), top);
      continue;
    }
    out.has_graph = true;
    std::string_view graph = file.view().substr(top.payload, top.end - top.payload);
    WireReader fields(graph, top.payload);
    while (!fields.at_end()) {
      BUDA_ASSIGN(WireField field, next_of(fields));
      if (++records > kMaxRecords)
        return input_error("ON002", {},
                           cat("has more than ", kMaxRecords, " nodes, tensors and values; this frontend reads models of up to that many"));
      if (field.number == kGraphInitializer && field.type == 2) {
        BUDA_ASSIGN(auto tensor, take_tensor_apart(file, top.payload + field.payload, top.payload + field.end));
        out.initializers.push_back(std::move(tensor));
      } else {
        append(out.graph, graph, field);
      }
    }
  }
  return out;
}

}  // namespace buda::onnx_frontend
