// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, selection, and conversion of element types.
#include "direct.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <onnx/onnx_pb.h>

namespace buda::onnx_frontend {
namespace {

Result<void> import_is_inf(NodeImport& n) {
  n.output(n.result().op("is_inf", {n.input(0)},
                         {{"positive", n.integer("detect_positive", 1) != 0}, {"negative", n.integer("detect_negative", 1) != 0}}));
  return success();
}

Result<void> convert(NodeImport& n, DType to) {
  BUDA_ASSIGN(auto type, n.type(0));
  if (type.dtype == to && n.narrow(0) == nullptr)
    n.output_input(0);
  else
    n.output(n.result().op("cast", {n.input(0)}, {{"dtype", std::string(dtype_name(to))}}));
  return success();
}

// Rounded to 8-bit floats; or to 4-bit integers, which keep the low bits of other integers and have limits for floats.
Result<void> convert(NodeImport& n, const NarrowType& to) {
  BUDA_ASSIGN(auto type, n.type(0));
  if (n.narrow(0) == &to) {
    n.output_input(0);
    return success();
  }
  auto x = n.input(0);
  if (to.float8) {
    if (!is_float(type.dtype)) x = n.cast(x, DType::f32, "real");
    auto rounded = n.step("rounded").op("round_float8", {x},
                                        {{"format", std::string(float8_name(*to.float8))}, {"saturate", n.integer("saturate", 1) != 0}});
    n.output_narrow(n.result().op("cast", {rounded}, {{"dtype", std::string(dtype_name(to.dtype))}}), &to);
    return success();
  }
  auto wide = n.cast(x, to.dtype, "wide");
  if (is_float(type.dtype)) {
    n.output_narrow(n.result().op("clip", {wide}, {{"min", static_cast<double>(to.min)}, {"max", static_cast<double>(to.max)}}), &to);
    return success();
  }
  auto bits = n.step("bits").constant(Tensor::scalar(4).cast(to.dtype));
  auto low = n.step("low").op("shift_left", {wide, bits});
  n.output_narrow(n.result().op("shift_right", {low, bits}), &to);
  return success();
}

// Before opset 6 the type was written out.
Result<void> import_cast(NodeImport& n) {
  int to = static_cast<int>(n.integer("to", 0));
  if (std::string name = n.text("to", ""); !name.empty()) {
    ::onnx::TensorProto::DataType type = ::onnx::TensorProto::UNDEFINED;
    if (::onnx::TensorProto::DataType_Parse(name, &type)) to = type;
  }
  if (const NarrowType* narrow = narrow_type(to)) return convert(n, *narrow);
  auto dtype = dtype_of(to);
  if (!dtype) return n.refuse(cat("it converts to ", onnx_type_name(to), "; only numbers and booleans of at most 64 bits are supported"));
  return convert(n, *dtype);
}

Result<void> import_cast_like(NodeImport& n) {
  if (const NarrowType* narrow = n.narrow(1)) return convert(n, *narrow);
  BUDA_ASSIGN(auto like, n.type(1));
  return convert(n, like.dtype);
}

constexpr OpImporter kLogicOps[] = {
    {"And", 1, import_binary, "logical_and"},
    {"Cast", 1, import_cast, {}, Narrow::converts},
    {"CastLike", 15, import_cast_like, {}, Narrow::converts},
    {"Equal", 1, import_binary, "equal"},
    {"Greater", 1, import_binary, "greater"},
    {"GreaterOrEqual", 12, import_binary, "greater_equal"},
    {"IsInf", 10, import_is_inf, {}, Narrow::converts},
    {"IsNaN", 9, import_direct, "is_nan", Narrow::converts},
    {"Less", 1, import_binary, "less"},
    {"LessOrEqual", 12, import_binary, "less_equal"},
    {"Not", 1, import_direct, "logical_not"},
    {"Or", 1, import_binary, "logical_or"},
    {"Where", 9, import_direct, "where"},
    {"Xor", 1, import_binary, "logical_xor"},
};

}  // namespace

std::span<const OpImporter> logic_ops() { return kLogicOps; }

}  // namespace buda::onnx_frontend
