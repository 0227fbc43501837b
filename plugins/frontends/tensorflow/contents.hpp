// SPDX-License-Identifier: Apache-2.0
// The elements of large tensors, left where they are in the file.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>

#include <string>

namespace buda::tensorflow_frontend {

enum class Root { graph, saved_model };

// The serialised message without the contents of its tensors and what is not read: TensorProto.tensor_content becomes content_begin and
// content_size, which say where the file has it. Costs a copy of the rest. Errors are those of the encoding.
Result<std::string> without_contents(const io::Bytes& file, Root root);

}  // namespace buda::tensorflow_frontend
