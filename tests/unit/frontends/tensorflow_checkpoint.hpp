// SPDX-License-Identifier: Apache-2.0
// A SavedModel with one variable, and its checkpoint byte by byte.
#pragma once

#include <buda/base/text.hpp>
#include <buda/io/protobuf.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace buda::test {

// CRC-32C bit by bit, rotated and with the constant added, as files of this kind store it.
inline std::uint32_t stored_checksum(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <class T>
std::string little_endian(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

// An entry of a block: a key without a part in common with the one before, and a value.
inline std::string table_entry(std::string_view key, std::string_view value) {
  std::string out;
  io::append_varint(out, 0);
  io::append_varint(out, key.size());
  io::append_varint(out, value.size());
  return out.append(key).append(value);
}

// A block with its restart points, and behind it the kind of compression (none) and the checksum.
inline std::string table_block(std::string entries) {
  entries += little_endian<std::uint32_t>(0) + little_endian<std::uint32_t>(1);
  entries += '\0';
  return entries + little_endian(stored_checksum(entries));
}

inline std::string block_handle(std::uint64_t offset, std::uint64_t size) {
  std::string out;
  io::append_varint(out, offset);
  io::append_varint(out, size);
  return out;
}

inline std::string checkpoint_weights() {
  const float kernel[] = {1, 2, 3, 4};
  return std::string(reinterpret_cast<const char*>(kernel), sizeof kernel);
}

inline std::string checkpoint_index(const std::string& weights) {
  constexpr std::size_t kTrailer = 5, kFooter = 48, kMagicBytes = 8;
  std::string header, entry, shape;
  io::append_tag(header, 1, 0);  // one file of elements
  io::append_varint(header, 1);
  for (int axis = 0; axis < 2; ++axis) shape += std::string("\x12\x02\x08\x02");  // an axis of size 2
  io::append_tag(entry, 1, 0);                                                    // DT_FLOAT
  io::append_varint(entry, 1);
  io::append_tag(entry, 2, 2);
  io::append_varint(entry, shape.size());
  entry += shape;
  io::append_tag(entry, 5, 0);
  io::append_varint(entry, weights.size());
  io::append_tag(entry, 6, 5);
  entry += little_endian(stored_checksum(weights));
  std::string file = table_block(table_entry("", header) + table_entry("layer/kernel/.ATTRIBUTES/VARIABLE_VALUE", entry));
  std::string index = table_block(table_entry("m", block_handle(0, file.size() - kTrailer)));
  std::string footer = block_handle(0, 0) + block_handle(file.size(), index.size() - kTrailer);
  footer.resize(kFooter - kMagicBytes, '\0');
  return file + index + footer + little_endian(std::uint64_t{0xdb4775248b80fb57});
}

// scores = x * dense/kernel, in a function that is given the variable, as TensorFlow 2 writes it.
inline std::string saved_model_bytes() {
  return R"(saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" tensorflow_version: "2.3.2" stripped_op_list { op { name: "Skipped" } } }
  graph_def {
    node { name: "dense/kernel" op: "VarHandleOp" attr { key: "shared_name" value { s: "dense/kernel" } } }
    node { name: "serving_default_x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "StatefulPartitionedCall" op: "StatefulPartitionedCall" input: "serving_default_x" input: "dense/kernel"
           attr { key: "f" value { func { name: "serve" } } } }
    node { name: "saver_filename" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
    node { name: "StatefulPartitionedCall_1" op: "StatefulPartitionedCall" input: "saver_filename" input: "dense/kernel"
           attr { key: "f" value { func { name: "restore" } } } }
    library {
      function {
        signature { name: "serve" input_arg { name: "x" type: DT_FLOAT } input_arg { name: "handle" type: DT_RESOURCE }
                    output_arg { name: "scores" type: DT_FLOAT } }
        node_def { name: "read" op: "ReadVariableOp" input: "handle" }
        node_def { name: "dense/MatMul" op: "MatMul" input: "x" input: "read:value:0" }
        ret { key: "scores" value: "dense/MatMul:product:0" }
      }
      function {
        signature { name: "restore" input_arg { name: "file" type: DT_STRING } input_arg { name: "assigned" type: DT_RESOURCE } }
        node_def { name: "keys" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } }
                   string_val: "_CHECKPOINTABLE_OBJECT_GRAPH" string_val: "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE" } } } }
        node_def { name: "RestoreV2" op: "RestoreV2" input: "file" input: "keys:output:0" input: "keys:output:0" }
        node_def { name: "Identity" op: "Identity" input: "RestoreV2:tensors:1" }
        node_def { name: "Assign" op: "AssignVariableOp" input: "assigned" input: "Identity:output:0" }
      }
    }
  }
  saver_def { filename_tensor_name: "saver_filename:0" restore_op_name: "StatefulPartitionedCall_1" }
  signature_def {
    key: "serving_default"
    value { inputs { key: "x" value { name: "serving_default_x:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } dim { size: 2 } } } }
            outputs { key: "scores" value { name: "StatefulPartitionedCall:0" dtype: DT_FLOAT } } }
  }
}
)";
}

}  // namespace buda::test
