// SPDX-License-Identifier: Apache-2.0
// Evaluation element by element.
#include <buda/ops/elements/loops.hpp>

#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/strided.hpp>

namespace buda::ops {

Result<Tensor> map_elements(const Tensor& in, DType compute, unsigned threads, MapLoop loop) {
  Tensor source = in.cast(compute);
  BUDA_ASSIGN(Buffer out, Buffer::make(compute, in.shape()));
  const char* x = static_cast<const char*>(source.elements());
  char* y = out.bytes();
  auto size = static_cast<std::int64_t>(dtype_size(compute));
  in_chunks(threads, static_cast<std::int64_t>(in.size()),
            [&](std::int64_t begin, std::int64_t end) { loop.run(loop.formula, x + begin * size, y + begin * size, end - begin); });
  return std::move(out).take().cast(in.dtype());
}

Result<Tensor> combine_elements(const Tensor& a, const Tensor& b, const Shape& shape, DType compute, DType result, unsigned threads,
                                CombineLoop loop) {
  Tensor sa = a.cast(compute), sb = b.cast(compute);
  BUDA_ASSIGN(Buffer out, Buffer::make(result, shape));
  const char* x = static_cast<const char*>(sa.elements());
  const char* y = static_cast<const char*>(sb.elements());
  char* z = out.bytes();
  auto size = static_cast<std::int64_t>(dtype_size(compute)), result_size = static_cast<std::int64_t>(dtype_size(result));
  StridedWalk<2> walk(shape, {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)});
  const auto steps = walk.inner_strides();
  in_chunks(threads, walk.count(), [&](std::int64_t begin, std::int64_t end) {
    walk.run(begin, end, [&](std::int64_t at, const std::array<std::int64_t, 2>& offsets, std::int64_t length) {
      loop.run(loop.formula, {x + offsets[0] * size, steps[0]}, {y + offsets[1] * size, steps[1]}, z + at * result_size, length);
    });
  });
  return std::move(out).take();
}

}  // namespace buda::ops
