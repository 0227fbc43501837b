// SPDX-License-Identifier: Apache-2.0
// A tensor while it is being computed.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace buda::ops {

// Memory for one result, not initialised. Shapes come from files, so that there may be too little of it: then make() fails.
class Buffer {
 public:
  static Result<Buffer> make(DType dtype, const Shape& shape);

  char* bytes() { return memory_.get(); }
  std::size_t byte_count() const { return byte_count_; }
  // T must be the type of the dtype.
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(memory_.get()), byte_count_ / sizeof(T)};
  }
  // The finished tensor.
  Tensor take() &&;

 private:
  DType dtype_ = DType::f32;
  Shape shape_;
  std::shared_ptr<char> memory_;
  std::size_t byte_count_ = 0;
};

}  // namespace buda::ops
