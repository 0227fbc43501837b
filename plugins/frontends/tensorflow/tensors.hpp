// SPDX-License-Identifier: Apache-2.0
// Tensors and element types as TensorFlow stores them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/fwd.hpp>

#include <buda_tensorflow.pb.h>

#include <optional>
#include <string>
#include <vector>

namespace buda::tensorflow_frontend {

namespace format = buda_tensorflow;

// Of a reference to a variable, too. None: a type that is not supported.
std::optional<DType> dtype_of(int type);
std::string type_name(int type);

// `file` is the one that the message was read from: contents are parts of it. An error says what is wrong, without a place.
Result<Tensor> tensor_of(const format::TensorProto& proto, const io::Bytes& file);

// The elements of a tensor of strings; a single one may stand for all.
std::vector<std::string> strings_of(const format::TensorProto& proto);

}  // namespace buda::tensorflow_frontend
