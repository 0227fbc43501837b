// SPDX-License-Identifier: Apache-2.0
// Memory for results.
#include <buda/ops/elements/buffer.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <new>

namespace buda::ops {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line, and the widest vector register

}  // namespace

Result<Buffer> Buffer::make(DType dtype, const Shape& shape) {
  auto size = tensor_bytes(dtype, shape);
  void* memory = nullptr;
  if (size) memory = ::operator new(static_cast<std::size_t>(std::max<std::int64_t>(*size, 1)), kAlignment, std::nothrow);
  if (memory == nullptr)
    return input_error("OP006", {},
                       cat("a result of type ", dtype_name(dtype), " and shape ", shape.text(), " does not fit in this machine's memory"));
  Buffer buffer;
  buffer.dtype_ = dtype;
  buffer.shape_ = shape;
  buffer.byte_count_ = static_cast<std::size_t>(*size);
  buffer.memory_ = {static_cast<char*>(memory), [](char* p) { ::operator delete(p, kAlignment); }};
  return buffer;
}

Tensor Buffer::take() && {
  io::Bytes bytes(memory_, std::string_view(memory_.get(), byte_count_));
  // The sizes agree by construction.
  return Tensor::from_bytes(dtype_, std::move(shape_), std::move(bytes)).value();
}

}  // namespace buda::ops
