// SPDX-License-Identifier: Apache-2.0
// Reading of TensorFlow Lite files.
//
// FlatBuffers are read in place: the verifier walks over the whole structure once, and what it accepts can be read without further care for
// the file's borders. It does not check what numbers mean (indices of tensors, buffers and operator codes): that is done here.
#include "model.hpp"

#include "sparse.hpp"
#include "vectors.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/values.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/model_source.hpp>
#include <buda/tensor/tensor.hpp>

#include <schema_generated.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;

// FlatBuffers' own limit; larger files have the elements of their buffers behind it.
constexpr std::size_t kLargestStructure = (std::size_t{1} << 31) - 1;
constexpr std::size_t kAlignment = 16;
constexpr flatbuffers::uoffset_t kDeepest = 64, kMaxTables = 4'000'000;

// The type of elements here; INT4 and UINT4 are unpacked.
std::optional<DType> dtype_of(format::TensorType type) {
  using T = format::TensorType;
  switch (type) {
    case T::FLOAT32:
      return DType::f32;
    case T::FLOAT16:
      return DType::f16;
    case T::BFLOAT16:
      return DType::bf16;
    case T::FLOAT64:
      return DType::f64;
    case T::INT64:
      return DType::i64;
    case T::INT32:
      return DType::i32;
    case T::INT16:
      return DType::i16;
    case T::INT8:
    case T::INT4:
      return DType::i8;
    case T::UINT64:
      return DType::u64;
    case T::UINT32:
      return DType::u32;
    case T::UINT16:
      return DType::u16;
    case T::UINT8:
    case T::UINT4:
      return DType::u8;
    case T::BOOL:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

std::string type_name(format::TensorType type) {
  std::string name = format::EnumNameTensorType(type);
  return name.empty() ? cat("element type ", static_cast<int>(type)) : name;
}

std::string text(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }

// Two numbers of four bits in each byte, the first one in its lower half.
Tensor unpacked(const Shape& shape, std::string_view bytes, bool with_sign) {
  auto count = static_cast<std::size_t>(shape.volume().value());
  std::vector<std::int8_t> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    int nibble = (static_cast<unsigned char>(bytes[i / 2]) >> (i % 2 == 0 ? 0 : 4)) & 15;
    out[i] = static_cast<std::int8_t>(with_sign && nibble > 7 ? nibble - 16 : nibble);
  }
  return with_sign ? Tensor(shape, std::move(out)) : Tensor(shape, std::move(out)).cast(DType::u8);
}

std::vector<std::int64_t> called_by(const format::Operator& op) {
  if (const auto* o = op.builtin_options_as_IfOptions()) return {o->then_subgraph_index(), o->else_subgraph_index()};
  if (const auto* o = op.builtin_options_as_WhileOptions()) return {o->cond_subgraph_index(), o->body_subgraph_index()};
  if (const auto* o = op.builtin_options_as_CallOptions()) return {o->subgraph()};
  if (const auto* o = op.builtin_options_as_CallOnceOptions()) return {o->init_subgraph_index()};
  return {};
}

class ModelReader {
 public:
  explicit ModelReader(const plugin::ModelSource& source) {
    model_.path = source.path;
    model_.file = source.path == io::kStdStream ? "<stdin>" : source.path.substr(source.path.rfind('/') + 1);
    model_.bytes = source.bytes;
  }

  Result<Model> read() {
    BUDA_TRY(verify());
    const auto* graphs = root_->subgraphs();
    if (graphs == nullptr || graphs->size() == 0) return model_.error("TF002", "has no subgraph");
    for (const auto* graph : *graphs) add_subgraph(*graph);
    if (!failure_.empty()) return std::move(failure_);
    return std::move(model_);
  }

 private:
  void add_subgraph(const format::SubGraph& graph) {
    graph_ = &model_.subgraphs.emplace_back();
    if (graph.tensors() != nullptr)
      for (const auto* tensor : *graph.tensors()) add_tensor(*tensor);
    graph_->inputs = list(graph.inputs());
    graph_->outputs = list(graph.outputs());
    check_indices(graph_->inputs, cat("the inputs", of_subgraph()), 0);
    check_indices(graph_->outputs, cat("the outputs", of_subgraph()), 0);
    if (graph.operators() != nullptr)
      for (const auto* op : *graph.operators()) add_operator(*op);
  }

  // For messages: most files have one subgraph, the model.
  std::string of_subgraph() const {
    return model_.subgraphs.size() == 1 ? " of the model" : cat(" of subgraph ", model_.subgraphs.size() - 1);
  }

  Result<void> verify() {
    std::string_view bytes = model_.bytes.view();
    if (bytes.size() < 8 || bytes.substr(4, 4) != format::ModelIdentifier())
      return model_.error("TF001", "is not a TensorFlow Lite model: its bytes 4 to 7 are not 'TFL3'");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment != 0) {
      model_.bytes = io::Bytes(std::string(bytes));
      bytes = model_.bytes.view();
    }
    const auto* start = reinterpret_cast<const std::uint8_t*>(bytes.data());
    flatbuffers::Verifier verifier(start, std::min(bytes.size(), kLargestStructure), kDeepest, kMaxTables);
    if (!format::VerifyModelBuffer(verifier))
      return model_.error("TF001", "is not a complete TensorFlow Lite model: its structure leads out of the file");
    root_ = format::GetModel(start);
    if (root_->version() != 3) return model_.error("TF002", cat("has version ", root_->version(), " of the format; version 3 is read"));
    return success();
  }

  void check_indices(const std::vector<std::int32_t>& tensors, std::string_view whose, std::int32_t least) {
    for (auto t : tensors)
      if (t < least || t >= static_cast<std::int64_t>(graph_->tensors.size()))
        failure_.add(model_.error("TF002", cat(whose, " name tensor ", t, "; there are ", graph_->tensors.size())));
  }

  void add_tensor(const format::Tensor& record) {
    TensorInfo out;
    std::string where = cat("tensor ", graph_->tensors.size(), model_.subgraphs.size() == 1 ? "" : of_subgraph());
    out.name = frontend::graph_name(text(record.name()));
    if (out.name.empty()) out.name = cat("tensor_", graph_->tensors.size());
    out.type_name = type_name(record.type());
    out.dtype = dtype_of(record.type());
    out.is_variable = record.is_variable();
    const auto sizes = list(record.shape()), signature = list(record.shape_signature());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      bool open = sizes[i] < 0 || (signature.size() == sizes.size() && signature[i] < 0);
      out.open_axes.push_back(open);
      out.shape.push_back(sizes[i] < 0 ? 1 : sizes[i]);
    }
    if (!out.shape.volume())
      failure_.add(model_.error("TF002", cat(where, " ('", out.name, "') has the impossible shape ", out.shape.text())));
    read_quantization(out, record, where);
    if (failure_.empty()) read_value(out, record, where);
    graph_->tensors.push_back(std::move(out));
  }

  void read_quantization(TensorInfo& out, const format::Tensor& record, const std::string& where) {
    const auto* given = record.quantization();
    if (given == nullptr) return;
    if (given->details_type() == format::QuantizationDetails::BlockwiseQuantization ||
        given->details_type() == format::QuantizationDetails::MultiAxisQuantization) {
      out.unreadable = "is quantised in blocks, which is not supported";
      return;
    }
    if (given->scale() == nullptr || given->scale()->size() == 0) return;
    Quantization q{list(given->scale()), list(given->zero_point()), given->quantized_dimension()};
    if (q.zero_points.empty()) q.zero_points = {0};
    if (q.zero_points.size() == 1) q.zero_points.resize(q.scales.size(), q.zero_points[0]);
    // Some converters name the axis of the weights for their bias, too.
    if (out.shape.rank() == 1) q.axis = 0;
    bool fits = q.zero_points.size() == q.scales.size();
    if (fits && q.per_slice())
      fits = q.axis >= 0 && q.axis < static_cast<std::int64_t>(out.shape.rank()) &&
             out.shape[static_cast<std::size_t>(q.axis)] == static_cast<std::int64_t>(q.scales.size());
    if (!fits) {
      failure_.add(model_.error("TF003", cat(where, " ('", out.name, "') has ", q.scales.size(), " scales and ", q.zero_points.size(),
                                             " zero points along axis ", q.axis, ", which do not fit its shape ", out.shape.text())));
      return;
    }
    for (float s : q.scales)
      if (!(s >= 0 && s <= std::numeric_limits<float>::max())) {
        failure_.add(model_.error("TF003", cat(where, " ('", out.name, "') has the impossible scale ", to_text(s))));
        return;
      }
    for (auto z : q.zero_points)
      if (z < std::numeric_limits<std::int32_t>::min() || z > std::numeric_limits<std::int32_t>::max()) {
        failure_.add(model_.error("TF003", cat(where, " ('", out.name, "') has the impossible zero point ", z)));
        return;
      }
    // Converters leave a single scale of 0 with tensors that are not quantised.
    if (q.scales.size() == 1 && q.scales[0] == 0) return;
    out.quantization = std::move(q);
  }

  // The elements of a buffer; nothing for a tensor that is computed.
  std::optional<io::Bytes> elements(const format::Tensor& record, const std::string& where) {
    const auto* buffers = root_->buffers();
    if (buffers == nullptr || record.buffer() >= buffers->size()) {
      if (record.buffer() != 0)
        failure_.add(
            model_.error("TF002", cat(where, " names buffer ", record.buffer(), "; there are ", buffers == nullptr ? 0 : buffers->size())));
      return std::nullopt;
    }
    const auto& buffer = *buffers->Get(record.buffer());
    if (buffer.offset() > 1) {
      if (buffer.offset() > model_.bytes.size() || buffer.size() > model_.bytes.size() - buffer.offset()) {
        failure_.add(model_.error("TF002", cat("buffer ", record.buffer(), " lies outside the file")));
        return std::nullopt;
      }
      return model_.bytes.slice(buffer.offset(), buffer.size());
    }
    if (buffer.data() == nullptr || record.buffer() == 0) return std::nullopt;
    auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(buffer.data()->data()) - model_.bytes.data());
    return model_.bytes.slice(offset, buffer.data()->size());
  }

  void read_value(TensorInfo& out, const format::Tensor& record, const std::string& where) {
    auto bytes = elements(record, where);
    if (!bytes) return;
    std::int64_t volume = out.shape.volume().value_or(0);
    if (bytes->empty() && volume != 0) return;
    if (!out.dtype) {
      out.unreadable = cat("has elements of ", out.type_name, ", which are not supported");
      return;
    }
    const bool has_nibbles = record.type() == format::TensorType::INT4 || record.type() == format::TensorType::UINT4;
    if (record.sparsity() != nullptr) {
      if (has_nibbles) {
        out.unreadable = cat("stores ", out.type_name, " sparsely, which is not supported");
        return;
      }
      auto all = densified(bytes->view(), *record.sparsity(), out.shape, dtype_size(*out.dtype));
      if (!all) {
        failure_.add(model_.error("TF004", cat(where, " ('", out.name, "') ", all.failure().diagnostics()[0].message)));
        return;
      }
      bytes = io::Bytes(std::move(*all));
    }
    if (has_nibbles) {
      if (static_cast<std::int64_t>(bytes->size()) == (volume + 1) / 2)
        out.value = unpacked(out.shape, bytes->view(), record.type() == format::TensorType::INT4);
    } else if (auto tensor = Tensor::from_bytes(*out.dtype, out.shape, *bytes)) {
      out.value = std::move(*tensor);
    }
    if (!out.value)
      failure_.add(model_.error("TF004", cat(where, " ('", out.name, "') is ", out.type_name, ' ', out.shape.text(), "; its buffer has ",
                                             bytes->size(), " bytes")));
  }

  void add_operator(const format::Operator& record) {
    OperatorInfo out;
    out.subgraph = model_.subgraphs.size() - 1;
    out.index = graph_->operators.size();
    std::string where = cat("operator ", out.index, out.subgraph == 0 ? "" : of_subgraph());
    const auto* codes = root_->operator_codes();
    if (codes == nullptr || record.opcode_index() >= codes->size()) {
      failure_.add(model_.error(
          "TF002", cat(where, " names operator code ", record.opcode_index(), "; there are ", codes == nullptr ? 0 : codes->size())));
      return;
    }
    const auto& code = *codes->Get(record.opcode_index());
    out.code = std::max<std::int32_t>(code.deprecated_builtin_code(), static_cast<std::int32_t>(code.builtin_code()));
    out.version = code.version();
    out.custom = out.code == static_cast<std::int32_t>(format::BuiltinOperator::CUSTOM);
    out.type = out.custom ? text(code.custom_code()) : format::EnumNameBuiltinOperator(static_cast<format::BuiltinOperator>(out.code));
    if (out.type.empty()) out.type = out.custom ? "CUSTOM" : cat("operator code ", out.code);
    out.inputs = list(record.inputs());
    out.outputs = list(record.outputs());
    out.record = &record;
    std::size_t before = failure_.diagnostics().size();
    check_indices(out.inputs, cat("the inputs of ", where), -1);
    check_indices(out.outputs, cat("the outputs of ", where), 0);
    for (auto called : called_by(record)) {
      if (called < 0 || called >= static_cast<std::int64_t>(root_->subgraphs()->size()))
        failure_.add(model_.error("TF002", cat(where, " names subgraph ", called, "; there are ", root_->subgraphs()->size())));
      else
        out.called.push_back(static_cast<std::size_t>(called));
    }
    if (failure_.diagnostics().size() == before)
      out.name = frontend::graph_name(out.outputs.empty() ? cat(out.type, '_', out.index)
                                                          : graph_->tensors[static_cast<std::size_t>(out.outputs[0])].name);
    graph_->operators.push_back(std::move(out));
  }

  Model model_;
  Subgraph* graph_ = nullptr;  // the one that is being read
  const format::Model* root_ = nullptr;
  Failure failure_;
};

}  // namespace

Diagnostic Model::error(std::string code, std::string message) const {
  return input_error(std::move(code), {path == io::kStdStream ? "<stdin>" : path}, std::move(message));
}

std::vector<std::int32_t> Model::states() const {
  std::set<std::int32_t> used;
  for (const auto& op : main().operators)
    for (auto input : op.inputs)
      if (input >= 0 && main().tensors[static_cast<std::size_t>(input)].is_variable) used.insert(input);
  return {used.begin(), used.end()};
}

Diagnostic node_error(const Model& model, const OperatorInfo& op, std::string code, std::string reason) {
  std::string place = cat("operator ", op.index, op.subgraph == 0 ? "" : cat(" of subgraph ", op.subgraph));
  Diagnostic d = model.error(std::move(code), cat("node '", op.name, "' (op type ", op.type, op.custom ? ", a custom operator" : "", ", ",
                                                  place, ", version ", op.version, "): ", reason));
  d.node = op.name;
  d.data = {{"op_type", op.type}, {"operator", cat(op.index)}, {"version", cat(op.version)}};
  return d;
}

Result<Model> read_model(const plugin::ModelSource& source) { return ModelReader(source).read(); }

}  // namespace buda::tflite_frontend
