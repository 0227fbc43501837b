// SPDX-License-Identifier: Apache-2.0
// Complex numbers: a tensor of them is a pair of tensors while the program is evaluated, and operators on it are operators on both. They
// come from buffers of the model, from torch.complex, torch.polar and torch.view_as_complex, and from Fourier transforms (spectral.cpp).
#include "evaluator.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

// Operators that do the same to both parts: they move elements, or are linear.
constexpr std::string_view kOfBothParts[] = {"__getitem__",
                                             "alias",
                                             "cat",
                                             "chunk",
                                             "clone",
                                             "concat",
                                             "contiguous",
                                             "cumsum",
                                             "detach",
                                             "expand",
                                             "expand_as",
                                             "flatten",
                                             "flip",
                                             "index",
                                             "index_select",
                                             "mean",
                                             "movedim",
                                             "narrow",
                                             "neg",
                                             "permute",
                                             "repeat",
                                             "reshape",
                                             "roll",
                                             "select",
                                             "slice",
                                             "split",
                                             "split_with_sizes",
                                             "squeeze",
                                             "stack",
                                             "sum",
                                             "swapaxes",
                                             "t",
                                             "tensor_split",
                                             "transpose",
                                             "unbind",
                                             "unsqueeze",
                                             "view",
                                             "unflatten",
                                             "numpy_T",
                                             "mT",
                                             "swapdims",
                                             "reshape_as",
                                             "view_as",
                                             "tile",
                                             "narrow_copy",
                                             "constant_pad_nd",
                                             "type_as",
                                             "expand_copy",
                                             "hstack",
                                             "vstack",
                                             "rot90"};
// Operators on what both parts have in common.
constexpr std::string_view kOfShape[] = {"size", "dim", "len", "numel", "device", "is_contiguous", "sym_size"};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

const ComplexPair* complex_part(const Value& value) {
  const auto* pair = value.as<ComplexRef>();
  return pair == nullptr ? nullptr : pair->get();
}

// The value with the real (imaginary) parts in the place of complex tensors, within lists, too.
Value part_of(const Value& value, bool real) {
  if (const auto* pair = complex_part(value)) return real ? pair->real : pair->imaginary;
  const auto* list = value.as<SequenceRef>();
  if (list == nullptr || !contains_complex(value)) return value;
  std::vector<Value> items;
  for (const Value& item : (*list)->items) items.push_back(part_of(item, real));
  return (*list)->tuple ? tuple_of(std::move(items)) : list_of(std::move(items));
}

// A power that is a product of a few factors.
std::optional<int> whole_exponent(const Value& value) {
  constexpr double kMaxFactors = 64;
  const auto* whole = value.as<std::int64_t>();
  const auto* real = value.as<double>();
  const double exponent = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : 0;
  if (!(exponent >= 1 && exponent <= kMaxFactors)) return std::nullopt;
  const int rounded = static_cast<int>(exponent);
  return rounded == exponent ? std::optional<int>(rounded) : std::nullopt;
}

// Results of both parts, element by element of lists.
Value joined_parts(const Value& real, const Value& imaginary) {
  const auto *a = real.as<SequenceRef>(), *b = imaginary.as<SequenceRef>();
  if (a == nullptr || b == nullptr) return complex_of(real, imaginary);
  std::vector<Value> items;
  for (std::size_t i = 0; i < (*a)->items.size() && i < (*b)->items.size(); ++i)
    items.push_back(complex_of((*a)->items[i], (*b)->items[i]));
  return (*a)->tuple ? tuple_of(std::move(items)) : list_of(std::move(items));
}

}  // namespace

Result<Value> Evaluator::real_operator(std::string_view name, std::vector<Value> arguments) {
  return call_operator(cat("torch.", name), {std::move(arguments), {}});
}

Result<Value> Evaluator::of_both_parts(std::string_view name, const Arguments& arguments) {
  Value results[2];
  for (bool real : {true, false}) {
    Arguments of;
    for (const Value& v : arguments.given) of.given.push_back(part_of(v, real));
    for (const auto& [key, v] : arguments.named) of.named.emplace_back(key, part_of(v, real));
    BUDA_ASSIGN(results[real ? 0 : 1], call_operator(cat("torch.", name), std::move(of)));
  }
  return joined_parts(results[0], results[1]);
}

// One of both may be real.
Result<Value> Evaluator::complex_arithmetic(std::string_view name, const Value& a, const Value& b) {
  const ComplexPair *x = complex_part(a), *y = complex_part(b);
  if (name == "add" || name == "sub") {
    BUDA_ASSIGN(Value real, real_operator(name, {x == nullptr ? a : x->real, y == nullptr ? b : y->real}));
    if (y == nullptr) {
      // A real summand changes nothing but the shape.
      BUDA_ASSIGN(Value zero, real_operator("mul", {real, Value(0.0)}));
      BUDA_ASSIGN(Value imaginary, real_operator("add", {x->imaginary, std::move(zero)}));
      return complex_of(std::move(real), std::move(imaginary));
    }
    BUDA_ASSIGN(Value imaginary, real_operator(name, {x == nullptr ? Value(0.0) : x->imaginary, y->imaginary}));
    if (x == nullptr) {
      BUDA_ASSIGN(Value zero, real_operator("mul", {real, Value(0.0)}));
      BUDA_ASSIGN(imaginary, real_operator("add", {imaginary, std::move(zero)}));
    }
    return complex_of(std::move(real), std::move(imaginary));
  }
  if (x == nullptr || y == nullptr) {
    if (name == "div" && x == nullptr) {
      BUDA_ASSIGN(Value numerator, complex_arithmetic("mul", a, complex_of(y->real, y->imaginary)));
      BUDA_ASSIGN(Value turned, real_operator("neg", {complex_part(numerator)->imaginary}));
      BUDA_ASSIGN(Value squares, real_operator("square", {y->real}));
      BUDA_ASSIGN(Value others, real_operator("square", {y->imaginary}));
      BUDA_ASSIGN(Value size, real_operator("add", {squares, others}));
      return complex_arithmetic("div", complex_of(complex_part(numerator)->real, turned), size);
    }
    BUDA_ASSIGN(Value real, real_operator(name, {x == nullptr ? a : x->real, y == nullptr ? b : y->real}));
    BUDA_ASSIGN(Value imaginary, real_operator(name, {x == nullptr ? a : x->imaginary, y == nullptr ? b : y->imaginary}));
    return complex_of(std::move(real), std::move(imaginary));
  }
  if (name == "div") {
    BUDA_ASSIGN(Value one, complex_arithmetic("div", Value(1.0), b));
    return complex_arithmetic("mul", a, one);
  }
  // mul and matmul: (x + iy)(u + iv)
  BUDA_ASSIGN(Value xu, real_operator(name, {x->real, y->real}));
  BUDA_ASSIGN(Value yv, real_operator(name, {x->imaginary, y->imaginary}));
  BUDA_ASSIGN(Value xv, real_operator(name, {x->real, y->imaginary}));
  BUDA_ASSIGN(Value yu, real_operator(name, {x->imaginary, y->real}));
  BUDA_ASSIGN(Value real, real_operator("sub", {xu, yv}));
  BUDA_ASSIGN(Value imaginary, real_operator("add", {xv, yu}));
  return complex_of(std::move(real), std::move(imaginary));
}

Result<Value> Evaluator::complex_function(std::string_view name, const Value& of) {
  const ComplexPair& z = *complex_part(of);
  if (name == "exp") {
    BUDA_ASSIGN(Value length, real_operator("exp", {z.real}));
    return real_operator("polar", {std::move(length), z.imaginary});
  }
  // The logarithm and the root by length and angle.
  BUDA_ASSIGN(Value length, real_operator("abs", {of}));
  BUDA_ASSIGN(Value turn, real_operator("angle", {of}));
  BUDA_ASSIGN(Value of_length, real_operator(name, {std::move(length)}));
  if (name == "log") return complex_of(std::move(of_length), std::move(turn));
  BUDA_ASSIGN(Value half, real_operator("mul", {std::move(turn), Value(0.5)}));
  return real_operator("polar", {std::move(of_length), std::move(half)});
}

Result<Value> Evaluator::complex_power(const Value& of, int exponent) {
  Value power = of;
  for (int i = 1; i < exponent; ++i) {
    BUDA_ASSIGN(power, complex_arithmetic("mul", power, of));
  }
  return power;
}

Result<std::optional<Value>> Evaluator::call_complex(std::string_view name, const Arguments& arguments) {
  const auto& given = arguments.given;
  auto made = [](Result<Value> value) -> Result<std::optional<Value>> {
    if (!value) return std::move(value).failure();
    return std::optional<Value>(std::move(*value));
  };
  if (name == "complex" && given.size() == 2) return std::optional<Value>(complex_of(given[0], given[1]));
  if (name == "polar" && given.size() == 2) {
    BUDA_ASSIGN(Value cosine, real_operator("cos", {given[1]}));
    BUDA_ASSIGN(Value sine, real_operator("sin", {given[1]}));
    BUDA_ASSIGN(Value real, real_operator("mul", {given[0], std::move(cosine)}));
    BUDA_ASSIGN(Value imaginary, real_operator("mul", {given[0], std::move(sine)}));
    return std::optional<Value>(complex_of(std::move(real), std::move(imaginary)));
  }
  if (name == "view_as_complex" && given.size() == 1) {
    BUDA_ASSIGN(Value real, real_operator("select", {given[0], Value(std::int64_t{-1}), Value(std::int64_t{0})}));
    BUDA_ASSIGN(Value imaginary, real_operator("select", {given[0], Value(std::int64_t{-1}), Value(std::int64_t{1})}));
    return std::optional<Value>(complex_of(std::move(real), std::move(imaginary)));
  }
  const bool any = std::any_of(given.begin(), given.end(), contains_complex) ||
                   std::any_of(arguments.named.begin(), arguments.named.end(), [](const auto& n) { return contains_complex(n.second); });
  if (!any || name.starts_with("fft_") || name == "istft") return std::optional<Value>();
  const ComplexPair* z = complex_part(given[0]);
  if (is_one_of(name, kOfBothParts)) return made(of_both_parts(name, arguments));
  if (is_one_of(name, {"resolve_conj", "resolve_neg", "view_as_complex"}) && z != nullptr) return std::optional<Value>(given[0]);
  if (is_one_of(name, kOfShape) && z != nullptr) {
    Arguments of = arguments;
    of.given[0] = z->real;
    return made(call_operator(cat("torch.", name), std::move(of)));
  }
  if (is_one_of(name, {"add", "sub", "mul", "div", "matmul", "multiply", "bmm"}) && given.size() == 2 && arguments.named.empty()) {
    const std::string_view op = name == "multiply" ? "mul" : name == "bmm" ? "matmul" : name;
    return made(complex_arithmetic(op, given[0], given[1]));
  }
  if (z != nullptr && name == "is_complex") return std::optional<Value>(Value(true));
  if (z != nullptr && name == "real") return std::optional<Value>(z->real);
  if (z != nullptr && name == "imag") return std::optional<Value>(z->imaginary);
  if (z != nullptr && name == "view_as_real")
    return made(real_operator("stack", {list_of({z->real, z->imaginary}), Value(std::int64_t{-1})}));
  if (z != nullptr && is_one_of(name, {"conj", "_conj", "conj_physical"})) {
    BUDA_ASSIGN(Value turned, real_operator("neg", {z->imaginary}));
    return std::optional<Value>(complex_of(z->real, std::move(turned)));
  }
  if (z != nullptr && name == "abs") {
    BUDA_ASSIGN(Value a, real_operator("square", {z->real}));
    BUDA_ASSIGN(Value b, real_operator("square", {z->imaginary}));
    BUDA_ASSIGN(Value sum, real_operator("add", {std::move(a), std::move(b)}));
    return made(real_operator("sqrt", {std::move(sum)}));
  }
  if (z != nullptr && is_one_of(name, {"exp", "log", "sqrt"})) return made(complex_function(name, given[0]));
  if (z != nullptr && name == "square") return made(complex_arithmetic("mul", given[0], given[0]));
  if (z != nullptr && name == "reciprocal") return made(complex_arithmetic("div", Value(1.0), given[0]));
  if (z != nullptr && name == "pow" && given.size() == 2)
    if (const auto exponent = whole_exponent(given[1])) return made(complex_power(given[0], *exponent));
  if (z != nullptr && name == "angle") return made(real_operator("atan2", {z->imaginary, z->real}));
  if (z != nullptr && name == "to") return std::optional<Value>(given[0]);
  const Diagnostic d = error("TS040", cat("torch.", name, " of complex numbers is not supported"));
  state_.failure.add(d);
  return std::optional<Value>(Value(Failed{}));
}

}  // namespace buda::torchscript
