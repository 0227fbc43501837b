// SPDX-License-Identifier: Apache-2.0
// ONNX's TensorProto: one tensor, in a file of its own (.pb) as ONNX's tests have them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/tensor/fwd.hpp>

#include <string>
#include <utility>

namespace buda {

// The tensor and its name (empty where it has none). Elements may stand in raw_data, which is shared, or in the typed fields; their number
// must be what the shape asks for. Strings, complex numbers, segments, external data and fields that a TensorProto does not have are errors
// (TN025); `path` is the file named in them. Source: onnx.proto, message TensorProto.
Result<std::pair<std::string, Tensor>> parse_tensor_proto(const io::Bytes& bytes, const std::string& path);

// What precedes the elements in a TensorProto: everything else, and the beginning of raw_data.
std::string tensor_proto_header(const std::string& name, const Tensor& tensor);

}  // namespace buda
