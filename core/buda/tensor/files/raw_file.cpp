// SPDX-License-Identifier: Apache-2.0
// Tensors out of files that are not tensor files.
#include <buda/tensor/files/raw_file.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda {

Result<Tensor> raw_tensor(const io::Bytes& file, const std::string& path, const RawPlace& place, DType dtype, Shape shape) {
  if (place.file_size != static_cast<std::int64_t>(file.size())) {
    Diagnostic d =
        input_error("TN015", {path},
                    cat("has ", file.size(), " bytes, and had ", place.file_size, " when a tensor in it was referred to: it was replaced"));
    d.hint = "make the graph from it again";
    return d;
  }
  auto size = tensor_bytes(dtype, shape);
  if (size && place.hex) size = checked_mul(*size, std::int64_t{2});
  auto end = size && place.offset >= 0 ? checked_add(place.offset, *size) : std::nullopt;
  if (!end || *end > place.file_size)
    return input_error("TN015", {path},
                       cat("has ", file.size(), " bytes, which do not hold a tensor of ", dtype_name(dtype), ' ', shape.text(),
                           place.hex ? ", as hexadecimal digits," : "", " at byte ", place.offset));
  io::Bytes part = file.slice(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(*size));
  if (!place.hex) return Tensor::from_bytes(dtype, std::move(shape), std::move(part));
  auto tensor = Tensor::from_hex(dtype, std::move(shape), std::move(part));
  if (tensor) return tensor;
  Failure failure = std::move(tensor).failure();
  failure.diagnostics().front().loc = {path};
  return failure;
}

}  // namespace buda
