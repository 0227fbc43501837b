// SPDX-License-Identifier: Apache-2.0
// PyTorch's rules for element types.
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::torchscript {
namespace {

int kind_of(DType t) { return t == DType::boolean ? 0 : is_integer(t) ? 1 : 2; }

DType wider(DType a, DType b) {
  if (a == b) return a;
  if (kind_of(a) != kind_of(b)) return kind_of(a) > kind_of(b) ? a : b;
  if ((a == DType::f16 && b == DType::bf16) || (a == DType::bf16 && b == DType::f16)) return DType::f32;
  if (dtype_size(a) != dtype_size(b)) {
    // A signed integer that is wider holds all of an unsigned one.
    return dtype_size(a) > dtype_size(b) ? a : b;
  }
  return (a == DType::u8 && b == DType::i8) || (a == DType::i8 && b == DType::u8) ? DType::i16 : a;
}

// What has axes (0), a tensor without (1), a number of the program (2).
struct Ranked {
  int rank = 2;
  DType dtype = DType::f32;
};

Result<Ranked> ranked(Call& n, const Value& value) {
  if (value.is<bool>()) return Ranked{2, DType::boolean};
  if (value.is<std::int64_t>()) return Ranked{2, DType::i64};
  if (value.is<double>()) return Ranked{2, DType::f32};
  if (!value.is<Cell>()) return n.refuse(cat("has an operand that is ", value.describe(), ", not a tensor or number"));
  const auto* type = n.state().builder.graph().type(n.value_ref(value));
  if (type == nullptr) return n.refuse("a value that it uses has no type");
  if ((*value.as<Cell>())->number) return Ranked{2, type->dtype == DType::f64 ? DType::f32 : type->dtype};
  return Ranked{type->shape.rank() == 0 ? 1 : 0, type->dtype};
}

}  // namespace

Result<DType> promoted_type(Call& n, const std::vector<Value>& operands) {
  std::optional<DType> by_rank[3];
  for (const Value& value : operands) {
    BUDA_ASSIGN(Ranked r, ranked(n, value));
    auto& widest = by_rank[r.rank];
    widest = widest ? wider(*widest, r.dtype) : r.dtype;
  }
  std::optional<DType> out;
  for (const auto& dtype : by_rank)
    if (dtype && (!out || kind_of(*dtype) > kind_of(*out))) out = dtype;
  return out.value_or(DType::f32);
}

Result<DType> promoted_type(Call& n, std::initializer_list<std::string_view> names) {
  std::vector<Value> operands;
  for (auto name : names) operands.push_back(n[name]);
  return promoted_type(n, operands);
}

Result<Ref> value_operand(Call& n, const Value& value, DType dtype) {
  if (value.is<Cell>()) return n.cast(n.value_ref(value), dtype);
  BUDA_ASSIGN(double number, n.real_of(value, "operand"));
  if (const auto* i = value.as<std::int64_t>()) return n.constant(Tensor::scalar(*i).cast(dtype));
  return n.number(number, dtype);
}

Result<Ref> operand(Call& n, std::string_view name, DType dtype) { return value_operand(n, n[name], dtype); }

Result<Ref> real_operand(Call& n, std::string_view name) {
  BUDA_ASSIGN(auto dtype, promoted_type(n, {name}));
  return operand(n, name, is_float(dtype) ? dtype : DType::f32);
}

}  // namespace buda::torchscript
