// SPDX-License-Identifier: Apache-2.0
// Evaluation element by element. What stands around the loop (conversion, memory, broadcasting, threads) is compiled once; of each formula
// and type only the loop is, and called through a pointer.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>

namespace buda::ops {

// to[i] = formula(from[i]) for i below count.
struct MapLoop {
  const void* formula;
  void (*run)(const void* formula, const void* from, void* to, std::int64_t count);
};

// Elements at equal distances: element i is at first[i * step], counted in elements of the loop's type.
struct Run {
  const void* first;
  std::int64_t step;
};

// to[i] = formula(a, b) of the i-th elements, for i below count.
struct CombineLoop {
  const void* formula;
  void (*run)(const void* formula, Run a, Run b, void* to, std::int64_t count);
};

// The loop over `in`, converted to type `compute`; the result is converted back. The loop is called from several threads.
Result<Tensor> map_elements(const Tensor& in, DType compute, unsigned threads, MapLoop loop);

// The loop over `a` and `b`, both converted to type `compute` and broadcast to `shape`, as NumPy does; it writes elements of type `result`.
Result<Tensor> combine_elements(const Tensor& a, const Tensor& b, const Shape& shape, DType compute, DType result, unsigned threads,
                                CombineLoop loop);

}  // namespace buda::ops
