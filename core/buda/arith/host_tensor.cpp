// SPDX-License-Identifier: Apache-2.0
// DestRounding on the way in, types on the way out.
#include <buda/arith/host_tensor.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/formats/quantize.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::arith {
namespace {

Shape entry_shape(const netlist::Queue& queue, std::int64_t w) {
  const auto tiles = queue.shape();
  return Shape{w, tiles.t, tiles.rt * queue.tile_dim.rows, tiles.ct * queue.tile_dim.cols};
}

// Numbers narrowed to the host's type of the format.
template <class T>
Tensor narrowed(const std::vector<std::int32_t>& numbers, Shape shape) {
  std::vector<T> out(numbers.size());
  std::transform(numbers.begin(), numbers.end(), out.begin(), [](std::int32_t v) { return static_cast<T>(v); });
  return Tensor(std::move(shape), std::move(out));
}

}  // namespace

Result<std::vector<ValuePtr>> entries_from(const Tensor& tensor, const netlist::Queue& queue, Mode mode) {
  const Shape& given = tensor.shape();
  const Shape wanted = entry_shape(queue, given.rank() == 4 ? given[0] : 1);
  if (given != wanted)
    return input_error("GD010", {},
                       cat("queue '", queue.name, "': a tensor of shape ", given.text(), " is given; an entry is ", wanted.text(),
                           " with any number in place of the first"));
  std::vector<ValuePtr> out;
  const auto count = static_cast<std::size_t>(given[0]);
  Value pattern;
  pattern.tiles = queue.shape();
  pattern.dim = queue.tile_dim;
  pattern.format = queue.format;
  const std::size_t size = pattern.size();
  auto split = [&](auto numbers, auto quantize) {
    using T = typename decltype(numbers)::value_type;
    for (std::size_t w = 0; w < count; ++w) {
      auto value = std::make_shared<Value>(pattern);
      auto first = numbers.begin() + static_cast<std::ptrdiff_t>(w * size);
      value->template data<T>().assign(first, first + static_cast<std::ptrdiff_t>(size));
      quantize(std::span<T>(value->template data<T>()));
      out.push_back(std::move(value));
    }
  };
  if (!pattern.integer()) {
    split(tensor.to_f32(), [&](std::span<float> numbers) {
      if (mode != Mode::fp32) round_before_packing(numbers, queue.format);
      store(mode, queue.format, numbers, pattern.cols());
    });
  } else if (is_float(tensor.dtype())) {
    // Rounded as the packer rounds floats, not truncated as a cast would.
    std::vector<float> floats = tensor.to_f32();
    store(mode, queue.format, floats, pattern.cols());
    Tensor rounded(given, std::move(floats));
    Tensor ints = rounded.cast(queue.format == DataFormat::raw_uint32 ? DType::u32 : DType::i32).cast(DType::i32);
    split(std::vector<std::int32_t>(ints.as<std::int32_t>().begin(), ints.as<std::int32_t>().end()), [](std::span<std::int32_t>) {});
  } else {
    Tensor ints = tensor.cast(DType::i32);
    split(std::vector<std::int32_t>(ints.as<std::int32_t>().begin(), ints.as<std::int32_t>().end()), [&](std::span<std::int32_t> numbers) {
      quantize_to_format(numbers, pattern.depth() * pattern.rows(), pattern.cols(), queue.format);
    });
  }
  return out;
}

namespace {

// Entries of `pattern`'s shape and format, one after the other.
Tensor joined(std::span<const Value* const> entries, const Value& pattern) {
  Shape shape{static_cast<std::int64_t>(entries.size()), pattern.tiles.t, static_cast<std::int64_t>(pattern.rows()),
              static_cast<std::int64_t>(pattern.cols())};
  const std::size_t size = pattern.size();
  auto all = [&](auto pick) {
    using T = typename std::decay_t<decltype(pick(pattern))>::value_type;
    std::vector<T> out(size * entries.size());
    for (std::size_t w = 0; w < entries.size(); ++w)
      if (entries[w] != nullptr)
        std::copy(pick(*entries[w]).begin(), pick(*entries[w]).end(), out.begin() + static_cast<std::ptrdiff_t>(w * size));
    return out;
  };
  if (!is_integer(pattern.format)) return Tensor(std::move(shape), all([](const Value& v) -> const auto& { return v.floats; }));
  auto ints = all([](const Value& v) -> const auto& { return v.ints; });
  switch (pattern.format) {
    case DataFormat::int8:
      return narrowed<std::int8_t>(ints, std::move(shape));
    case DataFormat::uint8:
    case DataFormat::raw_uint8:
      return narrowed<std::uint8_t>(ints, std::move(shape));
    case DataFormat::uint16:
    case DataFormat::raw_uint16:
      return narrowed<std::uint16_t>(ints, std::move(shape));
    case DataFormat::raw_uint32:
      return narrowed<std::uint32_t>(ints, std::move(shape));
    default:
      return Tensor(std::move(shape), std::move(ints));
  }
}

}  // namespace

Tensor tensor_from(std::span<const ValuePtr> entries, const netlist::Queue& queue) {
  Value pattern;
  pattern.tiles = queue.shape();
  pattern.dim = queue.tile_dim;
  pattern.format = queue.format;
  std::vector<const Value*> values;
  for (const auto& entry : entries) values.push_back(entry.get());
  return joined(values, pattern);
}

Tensor tensor_from(const Value& value) {
  const Value* only = &value;
  return joined({&only, 1}, value);
}

}  // namespace buda::arith
