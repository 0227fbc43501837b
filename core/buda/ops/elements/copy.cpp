// SPDX-License-Identifier: Apache-2.0
// Strided copies.
#include <buda/ops/elements/copy.hpp>

#include <buda/ops/elements/strided.hpp>

#include <cstring>

namespace buda::ops {
namespace {

template <class Word>
void copy_words(const StridedWalk<1>& walk, const char* in, char* out, unsigned threads) {
  auto* to = reinterpret_cast<Word*>(out);
  std::int64_t step = walk.inner_strides()[0];
  in_chunks(threads, walk.count(), [&](std::int64_t begin, std::int64_t end) {
    walk.run(begin, end, [&](std::int64_t at, const auto& offsets, std::int64_t length) {
      // A tensor's bytes may lie unaligned in a file.
      const char* p = in + offsets[0] * static_cast<std::int64_t>(sizeof(Word));
      if (step == 1) {
        std::memcpy(to + at, p, static_cast<std::size_t>(length) * sizeof(Word));
      } else {
        for (std::int64_t i = 0; i < length; ++i)
          std::memcpy(to + at + i, p + i * step * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
      }
    });
  });
}

}  // namespace

Result<Tensor> gathered(const Tensor& in, const Shape& shape, std::int64_t first, const std::vector<std::int64_t>& strides,
                        unsigned threads) {
  BUDA_ASSIGN(Buffer out, Buffer::make(in.dtype(), shape));
  StridedWalk<1> walk(shape, {strides});
  if (walk.count() != 0) {
    std::size_t size = dtype_size(in.dtype());
    const char* from = in.bytes().data() + first * static_cast<std::int64_t>(size);
    switch (size) {
      case 1:
        copy_words<std::uint8_t>(walk, from, out.bytes(), threads);
        break;
      case 2:
        copy_words<std::uint16_t>(walk, from, out.bytes(), threads);
        break;
      case 4:
        copy_words<std::uint32_t>(walk, from, out.bytes(), threads);
        break;
      default:
        copy_words<std::uint64_t>(walk, from, out.bytes(), threads);
    }
  }
  return std::move(out).take();
}

void put(const Tensor& part, Buffer& out, const Shape& out_shape, const std::vector<std::int64_t>& place) {
  if (part.size() == 0) return;
  std::vector<std::int64_t> strides = out_shape.strides();
  std::int64_t first = 0;
  for (std::size_t i = 0; i < place.size(); ++i) first += place[i] * strides[i];
  StridedWalk<1> walk(part.shape(), {strides});
  auto size = static_cast<std::int64_t>(dtype_size(part.dtype()));
  std::int64_t step = walk.inner_strides()[0];
  walk.run(0, walk.count(), [&](std::int64_t at, const auto& offsets, std::int64_t length) {
    const char* from = part.bytes().data() + at * size;
    char* to = out.bytes() + (first + offsets[0]) * size;
    if (step == 1 || length == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(length * size));
    } else {
      for (std::int64_t i = 0; i < length; ++i) std::memcpy(to + i * step * size, from + i * size, static_cast<std::size_t>(size));
    }
  });
}

void fill(Buffer& out, DType dtype, double value) {
  Tensor element = Tensor::scalar(value).cast(dtype);
  std::size_t size = dtype_size(dtype);
  if (element.bytes().find_first_not_of('\0') == std::string_view::npos) {
    std::memset(out.bytes(), 0, out.byte_count());
    return;
  }
  for (std::size_t i = 0; i < out.byte_count(); i += size) std::memcpy(out.bytes() + i, element.bytes().data(), size);
}

}  // namespace buda::ops
