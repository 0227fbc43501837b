// SPDX-License-Identifier: Apache-2.0
// Codes and fields are those that the documents of MLIR's bytecode and of VHLO list.
#include "bytecode_values.hpp"

#include "dense.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace buda::stablehlo {
namespace {

constexpr int kMaxNestedValues = 64;

// The attributes of an operation by its definition, in the order of their names, which is the one of the file. Operations that have none
// that matter here are left out.
struct Definition {
  std::string_view operation, attributes;
};

constexpr std::string_view kConvolution =
    "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions "
    "kernel_input_feature_dimension "
    "kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
    "output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides";

constexpr Definition kDefinitions[] = {
    {"batch_norm_inference_v1", "epsilon feature_index"},
    {"batch_norm_training_v1", "epsilon feature_index"},
    {"broadcast_in_dim_v1", "broadcast_dimensions"},
    {"call_v1", "callee"},
    {"cholesky_v1", "lower"},
    {"compare_v1", "compare_type comparison_direction"},
    {"composite_v1", "composite_attributes decomposition name version"},
    {"composite_v2", "composite_attributes decomposition name version"},
    {"concatenate_v1", "dimension"},
    {"constant_v1", "value"},
    {"convolution_v1", kConvolution},
    {"custom_call_v1", "api_version backend_config call_target_name"},
    {"custom_call_v2", "api_version backend_config call_target_name"},
    {"dot_general_v1",
     "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions rhs_contracting_dimensions"},
    {"dot_general_v2",
     "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count lhs_contracting_dimensions "
     "lhs_precision_type "
     "num_primitive_operations precision_config rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type"},
    {"dynamic_broadcast_in_dim_v1", "broadcast_dimensions"},
    {"dynamic_gather_v1", "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map"},
    {"dynamic_gather_v2",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims start_index_map "
     "start_indices_batching_dims"},
    {"dynamic_iota_v1", "iota_dimension"},
    {"dynamic_slice_v1", "slice_sizes"},
    {"fft_v1", "fft_length fft_type"},
    {"func_v1", "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"gather_v1", "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map"},
    {"gather_v2",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes start_index_map "
     "start_indices_batching_dims"},
    {"get_dimension_size_v1", "dimension"},
    {"get_tuple_element_v1", "index"},
    {"iota_v1", "iota_dimension"},
    {"map_v1", "dimensions"},
    {"pad_v1", "edge_padding_high edge_padding_low interior_padding"},
    {"reduce_precision_v1", "exponent_bits mantissa_bits"},
    {"reduce_v1", "dimensions"},
    {"reduce_window_v1", "base_dilations padding window_dilations window_dimensions window_strides"},
    {"reverse_v1", "dimensions"},
    {"scatter_v1",
     "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices update_window_dims"},
    {"scatter_v2",
     "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims scatter_dims_to_operand_dims "
     "scatter_indices_batching_dims "
     "unique_indices update_window_dims"},
    {"select_and_scatter_v1", "padding window_dimensions window_strides"},
    {"slice_v1", "limit_indices start_indices strides"},
    {"sort_v1", "dimension is_stable"},
    {"torch_index_select_v1", "batch_dims dim"},
    {"transpose_v1", "permutation"},
    {"triangular_solve_v1", "left_side lower transpose_a unit_diagonal"},
};

// The words of enumerations, by the code of the attribute; empty words are numbers that are not in use.
std::span<const std::string_view> words_of(std::uint64_t code) {
  static constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static constexpr std::string_view kComparisons[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  static constexpr std::string_view kTransforms[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  static constexpr std::string_view kTransposes[] = {"", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  switch (code) {
    case 3:
      return kDirections;
    case 4:
      return kComparisons;
    case 7:
      return kTransforms;
    case 16:
      return kTransposes;
    default:
      return {};
  }
}

// Element types, by the code of the type.
std::string_view element_name(std::uint64_t code) {
  static constexpr std::pair<std::uint64_t, std::string_view> kNames[] = {
      {0, "i1"},   {2, "bf16"}, {3, "f16"},  {4, "f32"},  {5, "f64"},   {9, "index"}, {10, "i4"},  {11, "i8"},
      {12, "i16"}, {13, "i32"}, {14, "i64"}, {16, "ui8"}, {17, "ui16"}, {18, "ui32"}, {19, "ui64"}};
  for (const auto& [number, name] : kNames)
    if (number == code) return name;
  return {};
}

}  // namespace

Diagnostic BytecodeValues::damaged(std::string_view what) const { return module_->error("SH001", cat("is damaged: ", what)); }

Result<Attribute> BytecodeValues::attribute(std::uint64_t number) {
  if (number >= tables_->attributes.size() || depth_ > kMaxNestedValues) return damaged("it has no such attribute");
  const auto& entry = tables_->attributes[static_cast<std::size_t>(number)];
  if (!entry.encoded) return Attribute{};
  ++depth_;
  auto out = entry.dialect == "vhlo"      ? vhlo_attribute(ByteReader(entry.bytes))
             : entry.dialect == "builtin" ? builtin_attribute(ByteReader(entry.bytes))
                                          : Result<Attribute>(Attribute{});
  --depth_;
  return out;
}

Result<Type> BytecodeValues::type(std::uint64_t number) {
  if (number >= tables_->types.size() || depth_ > kMaxNestedValues) return damaged("it has no such type");
  const auto& entry = tables_->types[static_cast<std::size_t>(number)];
  if (!entry.encoded || entry.dialect != "vhlo") {
    Type other;
    other.text = "a type of another dialect";
    return other;
  }
  ++depth_;
  auto out = vhlo_type(ByteReader(entry.bytes));
  --depth_;
  return out;
}

Result<Attribute> BytecodeValues::string(ByteReader& reader) {
  const std::uint64_t number = reader.number();
  if (reader.failed() || number >= tables_->strings.size()) return damaged("it has no such string");
  return Attribute{std::string(tables_->strings[static_cast<std::size_t>(number)])};
}

// Strings and dictionaries, which hold what operations have beside their definition.
Result<Attribute> BytecodeValues::builtin_attribute(ByteReader reader) {
  constexpr std::uint64_t kDictionary = 1, kString = 2;
  const std::uint64_t code = reader.number();
  if (code == kDictionary) return dictionary(reader);
  return code == kString ? string(reader) : Result<Attribute>(Attribute{});
}

Result<Attribute> BytecodeValues::dictionary(ByteReader& reader) {
  Attributes out;
  for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
    BUDA_ASSIGN(Attribute name, attribute(reader.number()));
    BUDA_ASSIGN(Attribute value, attribute(reader.number()));
    if (reader.failed()) return damaged("a dictionary ends too early");
    if (const auto* text = name.as<std::string>()) out.set(*text, std::move(value));
  }
  return Attribute{std::move(out)};
}

Result<Attribute> BytecodeValues::integer(ByteReader& reader) {
  BUDA_ASSIGN(Type of, type(reader.number()));
  // One byte where the type is that narrow.
  const bool narrow = of.dtype && dtype_size(*of.dtype) == 1;
  const std::int64_t value = narrow ? static_cast<std::int8_t>(reader.byte()) : reader.signed_number();
  return reader.failed() ? Result<Attribute>(damaged("an integer ends too early")) : Attribute{value};
}

Result<Attribute> BytecodeValues::real(ByteReader& reader) {
  BUDA_ASSIGN(Type of, type(reader.number()));
  const auto bits = static_cast<std::uint64_t>(reader.signed_number());
  if (reader.failed()) return damaged("a number ends too early");
  const DType dtype = of.dtype.value_or(DType::f64);
  if (dtype == DType::f64) return Attribute{std::bit_cast<double>(bits)};
  if (dtype == DType::f32) return Attribute{static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))};
  return Attribute{};
}

Result<Attribute> BytecodeValues::tensor(ByteReader& reader) {
  BUDA_ASSIGN(Type of, type(reader.number()));
  const std::string_view bytes = reader.take(reader.number());
  if (reader.failed()) return damaged("a constant ends too early");
  const io::Bytes& file = tables_->file;
  auto dense = dense_of_bytes(file.slice(static_cast<std::size_t>(bytes.data() - file.data()), bytes.size()), of);
  if (!dense) return module_->error("SH010", dense.failure().diagnostics()[0].message);
  return Attribute{std::make_shared<const Dense>(std::move(*dense))};
}

Result<Attribute> BytecodeValues::vhlo_attribute(ByteReader reader) {
  const std::uint64_t code = reader.number();
  if (const auto words = words_of(code); !words.empty()) {
    const std::uint64_t word = reader.number();
    if (reader.failed() || word >= words.size()) return damaged("an enumeration has no such word");
    return Attribute{std::string(words[static_cast<std::size_t>(word)])};
  }
  switch (code) {
    case 1: {
      Attribute::List out;
      for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
        BUDA_ASSIGN(Attribute one, attribute(reader.number()));
        out.push_back(std::move(one));
      }
      return reader.failed() ? Result<Attribute>(damaged("a list ends too early")) : Attribute{std::move(out)};
    }
    case 2:
      return Attribute{reader.number() != 0};
    case 6:
      return dictionary(reader);
    case 8:
      return real(reader);
    case 9:
      return integer(reader);
    case 14:
      return string(reader);
    case 15:
      return tensor(reader);
    case 17: {
      BUDA_ASSIGN(Type of, type(reader.number()));
      return Attribute{std::move(of)};
    }
    default:
      return Attribute{};
  }
}

Result<std::vector<Type>> BytecodeValues::type_list(ByteReader& reader) {
  std::vector<Type> out;
  for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
    BUDA_ASSIGN(Type one, type(reader.number()));
    out.push_back(std::move(one));
  }
  if (reader.failed()) return damaged("a list of types ends too early");
  return out;
}

// As it is spelled in text, which has the same parts.
Result<std::string> BytecodeValues::quantized_type(ByteReader& reader, bool per_axis) {
  const bool is_signed = (reader.number() & 1) != 0;
  BUDA_ASSIGN(Type stored, type(reader.number()));
  BUDA_ASSIGN(Type expressed, type(reader.number()));
  auto scale = [&] {
    std::string text = to_text(std::bit_cast<double>(reader.signed_number()));
    if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
  };
  std::string axis, steps;
  std::int64_t least = 0, most = 0;
  if (per_axis) {
    axis = cat(':', reader.number());
    least = reader.signed_number();
    most = reader.signed_number();
    std::vector<std::string> scales;
    for (std::size_t i = 0, count = reader.count(); i < count; ++i) scales.push_back(scale());
    const std::size_t count = reader.count();
    if (count != scales.size()) return damaged("a quantised type has other numbers of scales and zero points");
    for (std::string& one : scales) one += cat(':', reader.signed_number());
    steps = cat('{', join(scales, ", "), '}');
  } else {
    steps = scale();
    steps += cat(':', reader.signed_number());
    least = reader.signed_number();
    most = reader.signed_number();
  }
  if (reader.failed()) return damaged("a quantised type ends too early");
  const std::string width = stored.text.substr(std::min(stored.text.find_first_of("0123456789"), stored.text.size()));
  return cat("!quant.uniform<", is_signed ? 'i' : 'u', width, '<', least, ':', most, ">:", expressed.text, axis, ", ", steps, '>');
}

Result<Type> BytecodeValues::vhlo_type(ByteReader reader) {
  constexpr std::uint64_t kComplex = 1, kFunction = 8, kTensor = 20, kTensorWithEncoding = 21, kToken = 22, kTuple = 23, kQuantized = 24,
                          kQuantizedPerAxis = 30;
  const std::uint64_t code = reader.number();
  Type out;
  if (code == kTensor || code == kTensorWithEncoding) {
    if (code == kTensorWithEncoding) static_cast<void>(reader.number());
    out.kind = Type::Kind::tensor;
    std::string sizes;
    for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
      const std::int64_t size = reader.signed_number();
      if (size < 0 && size != std::numeric_limits<std::int64_t>::min()) return damaged("a tensor has a negative size");
      out.dims.push_back(size < 0 ? kOpen : size);
      sizes += size < 0 ? "?x" : cat(size, 'x');
    }
    BUDA_ASSIGN(Type element, type(reader.number()));
    out.set_element(element);
    out.text = cat("tensor<", sizes, element.text, '>');
  } else if (code == kComplex) {
    BUDA_ASSIGN(Type element, type(reader.number()));
    out.text = cat("complex<", element.text, '>');
    out.dtype = element_type(out.text, out.is_complex);
  } else if (code == kQuantized || code == kQuantizedPerAxis) {
    BUDA_ASSIGN(out.text, quantized_type(reader, code == kQuantizedPerAxis));
    out.set_element(out.text);
  } else if (code == kFunction) {
    out.text = "a function";
    BUDA_ASSIGN(out.inputs, type_list(reader));
    BUDA_ASSIGN(out.results, type_list(reader));
  } else if (code == kTuple) {
    out.kind = Type::Kind::tuple;
    out.text = "tuple";
    BUDA_ASSIGN(out.results, type_list(reader));
  } else if (const std::string_view name = element_name(code); !name.empty()) {
    out.text = std::string(name);
    out.dtype = element_type(name, out.is_complex);
  } else {
    out.text = code == kToken ? "a token" : cat("type ", code, " of VHLO");
  }
  if (reader.failed()) return damaged("a type ends too early");
  return out;
}

Result<void> BytecodeValues::add_properties(Operation& op, std::string_view versioned_name, std::uint64_t number) {
  if (number >= tables_->properties.size()) return damaged("it has no such properties");
  ByteReader reader(tables_->properties[static_cast<std::size_t>(number)]);
  for (const Definition& definition : kDefinitions) {
    if (definition.operation != versioned_name) continue;
    for (std::string_view name : split(definition.attributes, ' ')) {
      BUDA_ASSIGN(Attribute value, attribute(reader.number()));
      if (reader.failed()) return damaged("the properties of an operation end too early");
      op.attributes.set(std::string(name), std::move(value));
    }
  }
  return success();
}

Result<void> BytecodeValues::add_dictionary(Operation& op, std::uint64_t number) {
  BUDA_ASSIGN(Attribute found, attribute(number));
  if (auto* named = std::get_if<Attributes>(&found.value)) op.attributes.merge(std::move(*named));
  return success();
}

}  // namespace buda::stablehlo
