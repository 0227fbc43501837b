// SPDX-License-Identifier: Apache-2.0
// Tensors of numbers that the program gives: they are known, and become constants where they are used.
#include "call.hpp"
#include "load.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <numeric>

namespace buda::torchscript {
namespace {

Result<DType> dtype_or(Call& n, DType standard) {
  if (!n.has("dtype")) return standard;
  BUDA_ASSIGN(auto code, n.integer("dtype"));
  auto dtype = dtype_of_code(code);
  if (!dtype) return n.refuse(cat("its dtype is number ", code, ", which is not supported"));
  return *dtype;
}

// Small ones are known; a large one is one number, repeated.
Result<Value> filled(Call& n, const Shape& shape, DType dtype, double value) {
  constexpr std::int64_t kLargestWritten = 1 << 20;
  auto volume = shape.volume();
  if (!volume || *volume > (std::int64_t{1} << 32)) return n.refuse(cat("makes a tensor of shape ", shape.text()));
  Tensor one = Tensor::scalar(value).cast(dtype);
  if (*volume > kLargestWritten) {
    Ref number = n.constant(std::move(one));
    return n.tensor(n.result().broadcast(number, shape));
  }
  if (value == 0) {
    BUDA_ASSIGN(Tensor zeros, Tensor::zeros(dtype, shape));
    return n.known_tensor(std::move(zeros));
  }
  return n.known_tensor(Tensor(shape, std::vector<double>(static_cast<std::size_t>(*volume), value)).cast(dtype));
}

// The value that the name tells, or the argument.
Result<double> fill_value(Call& n) {
  const std::string_view name = n.importer().name;
  if (name.find("ones") != std::string_view::npos) return 1;
  if (name.find("full") != std::string_view::npos) return n.real_or("value", 0);
  return 0;
}

Result<Value> generate_filled(Call& n) {
  BUDA_ASSIGN(Dims sizes, n.integers("size"));
  BUDA_ASSIGN(double value, fill_value(n));
  DType standard = DType::f32;
  if (n.importer().name == "full" && !n["value"].is<Cell>()) {
    BUDA_ASSIGN(standard, promoted_type(n, {"value"}));
  }
  BUDA_ASSIGN(auto dtype, dtype_or(n, standard));
  return filled(n, Shape(std::move(sizes)), dtype, value);
}

Result<Value> generate_like(Call& n) {
  BUDA_ASSIGN(auto type, n.type("self"));
  BUDA_ASSIGN(double value, fill_value(n));
  BUDA_ASSIGN(auto dtype, dtype_or(n, type.dtype));
  if (n.has("size")) {
    BUDA_ASSIGN(Dims sizes, n.integers("size"));
    return filled(n, Shape(std::move(sizes)), dtype, value);
  }
  return filled(n, type.shape, dtype, value);
}

// arange(end), arange(start, end), arange(start, end, step): what is given by place, up to the first that is no bound.
Result<Value> generate_range(Call& n) {
  constexpr double kMost = 1 << 24;
  std::vector<Value> bounds;
  for (std::size_t i = 0; i < 3 && !n.argument(i).none(); ++i) bounds.push_back(n.argument(i));
  if (bounds.empty()) return n.refuse("has no end");
  if (bounds.size() == 1) bounds.insert(bounds.begin(), Value(std::int64_t{0}));
  if (bounds.size() == 2) bounds.emplace_back(std::int64_t{1});
  BUDA_ASSIGN(DType standard, promoted_type(n, bounds));
  BUDA_ASSIGN(auto dtype, dtype_or(n, is_float(standard) ? DType::f32 : DType::i64));
  double b[3];
  for (std::size_t i = 0; i < 3; ++i) {
    BUDA_ASSIGN(b[i], n.real_of(bounds[i], "start, end or step"));
  }
  const double count = std::ceil((b[1] - b[0]) / b[2]);
  if (!(count >= 0) || count > kMost) return n.refuse(cat("makes ", count, " numbers; 0 to ", kMost, " are supported"));
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = b[0] + static_cast<double>(i) * b[2];
  const Shape shape{static_cast<std::int64_t>(numbers.size())};
  return n.known_tensor(Tensor(shape, std::move(numbers)).cast(dtype));
}

Result<Value> generate_linspace(Call& n) {
  BUDA_ASSIGN(double start, n.real_or("start", 0));
  BUDA_ASSIGN(double end, n.real_or("end", 1));
  BUDA_ASSIGN(auto steps, n.integer_or("steps", 100));
  BUDA_ASSIGN(auto dtype, dtype_or(n, DType::f32));
  if (steps < 0 || steps > (1 << 24)) return n.refuse(cat("makes ", steps, " numbers"));
  std::vector<double> numbers(static_cast<std::size_t>(steps));
  // From both ends, as PyTorch does, so that the ends are met.
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = i < numbers.size() / 2 ? start + step * static_cast<double>(i) : end - step * static_cast<double>(numbers.size() - 1 - i);
  if (steps == 1) numbers[0] = start;
  return n.known_tensor(Tensor(Shape{steps}, std::move(numbers)).cast(dtype));
}

Result<Value> generate_eye(Call& n) {
  BUDA_ASSIGN(auto rows, n.integer("n"));
  BUDA_ASSIGN(auto columns, n.integer_or("m", rows));
  BUDA_ASSIGN(auto dtype, dtype_or(n, DType::f32));
  if (rows < 0 || columns < 0 || rows > 4096 || columns > 4096) return n.refuse(cat("makes a matrix of ", rows, " x ", columns));
  std::vector<double> numbers(static_cast<std::size_t>(rows * columns), 0);
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) numbers[static_cast<std::size_t>(i * columns + i)] = 1;
  return n.known_tensor(Tensor(Shape{rows, columns}, std::move(numbers)).cast(dtype));
}

// Numbers of a list within lists, and the sizes of these.
Result<void> flatten(Call& n, const Value& value, std::size_t depth, Dims& sizes, std::vector<double>& numbers) {
  constexpr std::size_t kMaxAxes = 8;
  if (const auto* list = value.as<SequenceRef>()) {
    if (depth > kMaxAxes || numbers.size() > (1 << 24)) return n.refuse("makes a tensor of too deep or too long a list");
    const auto size = static_cast<std::int64_t>((*list)->items.size());
    if (depth == sizes.size()) sizes.push_back(size);
    if (sizes[depth] != size) return n.refuse("makes a tensor of lists of different lengths");
    for (const Value& item : (*list)->items) BUDA_TRY(flatten(n, item, depth + 1, sizes, numbers));
    return success();
  }
  BUDA_ASSIGN(double number, n.real_of(value, "data"));
  numbers.push_back(number);
  return success();
}

// The first number in lists within lists, whose type is that of all.
const Value& first_of(const Value& value) {
  const Value* at = &value;
  for (const auto* list = at->as<SequenceRef>(); list != nullptr && !(*list)->items.empty(); list = at->as<SequenceRef>())
    at = &(*list)->items[0];
  return *at;
}

Result<Value> generate_tensor(Call& n) {
  const Value& first = first_of(n["data"]);
  if (n.is_tensor("data")) return n["data"];
  DType standard = DType::f32;
  if (!first.is<SequenceRef>()) {
    BUDA_ASSIGN(standard, promoted_type(n, std::vector<Value>{first}));
  }
  BUDA_ASSIGN(auto dtype, dtype_or(n, standard));
  Dims sizes;
  std::vector<double> numbers;
  BUDA_TRY(flatten(n, n["data"], 0, sizes, numbers));
  const Shape shape(std::move(sizes));
  if (shape.volume() != static_cast<std::int64_t>(numbers.size())) return n.refuse("makes a tensor of lists of different lengths");
  return n.known_tensor(Tensor(shape, std::move(numbers)).cast(dtype));
}

constexpr OpImporter kGeneratorOps[] = {
    {"arange", "start end step dtype layout device pin_memory", generate_range},
    {"as_tensor", "data dtype device", generate_tensor},
    {"empty", "size dtype layout device pin_memory memory_format", generate_filled, "", "as zeros"},
    {"empty_like", "self dtype layout device pin_memory memory_format", generate_like, "", "as zeros"},
    {"eye", "n m dtype layout device pin_memory", generate_eye},
    {"full", "size value dtype layout device pin_memory", generate_filled},
    {"full_like", "self value dtype layout device pin_memory memory_format", generate_like},
    {"linspace", "start end steps dtype layout device pin_memory", generate_linspace},
    {"new_empty", "self size dtype layout device pin_memory", generate_like, "", "as zeros"},
    {"new_full", "self size value dtype layout device pin_memory", generate_like},
    {"new_ones", "self size dtype layout device pin_memory", generate_like},
    {"new_zeros", "self size dtype layout device pin_memory", generate_like},
    {"ones", "size dtype layout device pin_memory", generate_filled},
    {"ones_like", "self dtype layout device pin_memory memory_format", generate_like},
    {"scalar_tensor", "data dtype layout device pin_memory", generate_tensor},
    {"tensor", "data dtype device requires_grad", generate_tensor},
    {"zeros", "size dtype layout device pin_memory", generate_filled},
    {"zeros_like", "self dtype layout device pin_memory memory_format", generate_like},
};

}  // namespace

std::span<const OpImporter> generator_ops() { return kGeneratorOps; }

}  // namespace buda::torchscript
