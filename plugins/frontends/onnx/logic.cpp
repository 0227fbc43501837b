// Comparisons, logic, selection, and conversion of element types.
#include "direct.hpp"
#include "tensor_reader.hpp"

#include <buda/base/text.hpp>

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
  if (type.dtype == to)
    n.output_input(0);
  else
    n.output(n.result().op("cast", {n.input(0)}, {{"dtype", std::string(dtype_name(to))}}));
  return success();
}

// Before opset 6 the type was written out.
Result<void> import_cast(NodeImport& n) {
  int to = static_cast<int>(n.integer("to", 0));
  if (std::string name = n.text("to", ""); !name.empty()) {
    ::onnx::TensorProto::DataType type = ::onnx::TensorProto::UNDEFINED;
    if (::onnx::TensorProto::DataType_Parse(name, &type)) to = type;
  }
  auto dtype = dtype_of(to);
  if (!dtype) return n.refuse(cat("it converts to ", onnx_type_name(to), "; numbers and booleans of at most 64 bits are read"));
  return convert(n, *dtype);
}

Result<void> import_cast_like(NodeImport& n) {
  BUDA_ASSIGN(auto like, n.type(1));
  return convert(n, like.dtype);
}

constexpr OpImporter kLogicOps[] = {
    {"And", 1, import_binary, "logical_and"},
    {"Cast", 1, import_cast},
    {"CastLike", 15, import_cast_like},
    {"Equal", 1, import_binary, "equal"},
    {"Greater", 1, import_binary, "greater"},
    {"GreaterOrEqual", 12, import_binary, "greater_equal"},
    {"IsInf", 10, import_is_inf},
    {"IsNaN", 9, import_direct, "is_nan"},
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
