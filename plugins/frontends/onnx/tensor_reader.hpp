// SPDX-License-Identifier: Apache-2.0
// TensorProto as a tensor: from the model file, or from files of external data beside it.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/frontend/narrow_type.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/file_system.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace buda::onnx_frontend {

// The element type that an ONNX number (TensorProto::DataType) stands for; nothing for strings, complex numbers and numbers that ONNX
// does not define.
std::optional<DType> dtype_of(int onnx_type);
// The way back; every type of ours has one.
int onnx_type_of(DType dtype);
// "FLOAT", or "type 99": for messages.
std::string onnx_type_name(int onnx_type);

// ONNX's element types that are narrower than any of ours: 4-bit integers and 8-bit floats.
// Null for other types.
const frontend::NarrowType* narrow_type(int onnx_type);

// A sparse tensor of a few bytes may have any shape.
inline constexpr std::int64_t kLargestDense = 1 << 30;

class TensorReader {
 public:
  // External data is looked for in the folder of the model, and nowhere else.
  TensorReader(std::string model_path, io::FileSystem& fs) : model_path_(std::move(model_path)), fs_(&fs) {}

  // `raw` is the tensor's raw_data where that was taken out of the message; it is shared, not copied. Every number
  // of elements and bytes is checked against the shape before anything is allocated. Errors need a place and the tensor's name.
  Result<Tensor> read(const ::onnx::TensorProto& tensor, const std::optional<io::Bytes>& raw = std::nullopt);
  // A tensor of which only the elements that are not 0 are given, as an ordinary one of at most kLargestDense bytes.
  Result<Tensor> read(const ::onnx::SparseTensorProto& tensor);

  // The files of external data so far, by path.
  const std::map<std::string, io::Bytes>& files() const { return files_; }

 private:
  Result<Tensor> read_narrow(const ::onnx::TensorProto& tensor, const frontend::NarrowType& type, const std::optional<io::Bytes>& raw);
  Result<io::Bytes> external_bytes(const ::onnx::TensorProto& tensor, const Shape& shape, std::string_view type, std::int64_t bytes);
  Result<io::Bytes> external_file(const std::string& location);

  std::string model_path_;
  io::FileSystem* fs_;
  std::map<std::string, io::Bytes> files_;
};

}  // namespace buda::onnx_frontend
