// SPDX-License-Identifier: Apache-2.0
// Names, codes and sizes of device formats, from one table.
#include <buda/tensor/data_format.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <array>
#include <string>
#include <utility>

namespace buda {
namespace {

enum class Kind : std::uint8_t { floating, bfp, integer, raw, none };

struct Info {
  DataFormat format;
  std::string_view name;
  Kind kind;
  ExponentFamily family;
  std::uint8_t bits;
};

// In the order of codes. Sources: specs of netlists (codes, sizes), of the packer (which families share hardware paths).
constexpr std::array<Info, 20> kFormats = {{
    {DataFormat::float32, "Float32", Kind::floating, ExponentFamily::none, 32},
    {DataFormat::float16, "Float16", Kind::floating, ExponentFamily::a, 16},
    {DataFormat::bfp8, "Bfp8", Kind::bfp, ExponentFamily::a, 8},
    {DataFormat::bfp4, "Bfp4", Kind::bfp, ExponentFamily::a, 4},
    {DataFormat::tf32, "Tf32", Kind::floating, ExponentFamily::none, 32},
    {DataFormat::float16_b, "Float16_b", Kind::floating, ExponentFamily::b, 16},
    {DataFormat::bfp8_b, "Bfp8_b", Kind::bfp, ExponentFamily::b, 8},
    {DataFormat::bfp4_b, "Bfp4_b", Kind::bfp, ExponentFamily::b, 4},
    {DataFormat::int32, "Int32", Kind::integer, ExponentFamily::none, 32},
    {DataFormat::uint16, "UInt16", Kind::integer, ExponentFamily::none, 16},
    {DataFormat::lf8, "Lf8", Kind::floating, ExponentFamily::a, 8},
    {DataFormat::bfp2, "Bfp2", Kind::bfp, ExponentFamily::a, 2},
    {DataFormat::int8, "Int8", Kind::integer, ExponentFamily::none, 8},
    {DataFormat::bfp2_b, "Bfp2_b", Kind::bfp, ExponentFamily::b, 2},
    {DataFormat::fp8_e4m3, "Fp8_e4m3", Kind::floating, ExponentFamily::a, 8},
    {DataFormat::uint8, "UInt8", Kind::integer, ExponentFamily::none, 8},
    {DataFormat::raw_uint8, "RawUInt8", Kind::raw, ExponentFamily::none, 8},
    {DataFormat::raw_uint16, "RawUInt16", Kind::raw, ExponentFamily::none, 16},
    {DataFormat::raw_uint32, "RawUInt32", Kind::raw, ExponentFamily::none, 32},
    {DataFormat::invalid, "Invalid", Kind::none, ExponentFamily::none, 0},
}};

const Info& info(DataFormat f) {
  for (const auto& entry : kFormats)
    if (entry.format == f) return entry;
  return kFormats.back();
}

// What NumPy, PyTorch and others call a format; small letters.
constexpr std::pair<std::string_view, DataFormat> kOtherNames[] = {{"bf16", DataFormat::float16_b},
                                                                   {"bfloat16", DataFormat::float16_b},
                                                                   {"fp16", DataFormat::float16},
                                                                   {"f16", DataFormat::float16},
                                                                   {"half", DataFormat::float16},
                                                                   {"float16", DataFormat::float16},
                                                                   {"fp32", DataFormat::float32},
                                                                   {"f32", DataFormat::float32},
                                                                   {"float", DataFormat::float32},
                                                                   {"float32", DataFormat::float32},
                                                                   {"single", DataFormat::float32},
                                                                   {"double", DataFormat::float32},
                                                                   {"fp64", DataFormat::float32},
                                                                   {"float64", DataFormat::float32},
                                                                   {"bfp8", DataFormat::bfp8_b},
                                                                   {"bfloat8", DataFormat::bfp8_b},
                                                                   {"bfloat4", DataFormat::bfp4_b},
                                                                   {"i8", DataFormat::int8},
                                                                   {"int8", DataFormat::int8},
                                                                   {"u8", DataFormat::uint8},
                                                                   {"uint8", DataFormat::uint8},
                                                                   {"u16", DataFormat::uint16},
                                                                   {"uint16", DataFormat::uint16},
                                                                   {"i32", DataFormat::int32},
                                                                   {"int", DataFormat::int32},
                                                                   {"int32", DataFormat::int32},
                                                                   {"float8_e4m3", DataFormat::fp8_e4m3},
                                                                   {"float8_e4m3fn", DataFormat::fp8_e4m3},
                                                                   {"fp8", DataFormat::fp8_e4m3}};

bool in_netlists(DataFormat f) { return f != DataFormat::tf32 && f != DataFormat::invalid; }

// The format that is meant by "torch.bfloat16", "bf16" or "bfp8_B".
std::optional<DataFormat> format_of_other_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string lower = to_lower(name.substr(dot == std::string_view::npos ? 0 : dot + 1));
  for (const auto& [other, format] : kOtherNames)
    if (other == lower) return format;
  for (const auto& entry : kFormats)
    if (in_netlists(entry.format) && to_lower(entry.name) == lower) return entry.format;
  return std::nullopt;
}

}  // namespace

std::string_view format_name(DataFormat f) { return info(f).name; }

Result<DataFormat> format_from_name(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& entry : kFormats) {
    if (!in_netlists(entry.format)) continue;
    if (entry.name == name) return entry.format;
    names.emplace_back(entry.name);
  }
  Diagnostic d = input_error("TN010", {}, cat("'", name, "' is not a data format; there are ", join(names, ", ")));
  if (auto ours = format_of_other_name(name)) {
    d.hint = cat("it is called '", format_name(*ours), "' here");
  } else if (auto nearest = nearest_word(name, names)) {
    d.hint = cat("did you mean '", *nearest, "'?");
  }
  return d;
}

std::optional<DataFormat> format_from_code(std::int64_t code) {
  for (const auto& entry : kFormats)
    if (format_code(entry.format) == code) return entry.format;
  return std::nullopt;
}

const std::vector<DataFormat>& netlist_formats() {
  static const std::vector<DataFormat> formats = [] {
    std::vector<DataFormat> list;
    for (const auto& entry : kFormats)
      if (in_netlists(entry.format)) list.push_back(entry.format);
    return list;
  }();
  return formats;
}

ExponentFamily exponent_family(DataFormat f) { return info(f).family; }
bool is_bfp(DataFormat f) { return info(f).kind == Kind::bfp; }
bool is_raw(DataFormat f) { return info(f).kind == Kind::raw; }
bool is_integer(DataFormat f) { return info(f).kind == Kind::integer || info(f).kind == Kind::raw; }
bool is_float(DataFormat f) { return info(f).kind == Kind::floating || info(f).kind == Kind::bfp; }
int bits_per_datum(DataFormat f) { return info(f).bits; }
int bfp_magnitude_bits(DataFormat f) { return is_bfp(f) ? info(f).bits - 1 : 0; }

bool is_valid_tile_dim(TileDim dim) {
  if (dim.cols == 16) return dim.rows == 32;
  return dim.cols == 32 && (dim.rows == 1 || dim.rows == 2 || dim.rows == 4 || dim.rows == 8 || dim.rows == 16 || dim.rows == 32);
}

std::int32_t tile_exponent_bytes(DataFormat f, TileDim dim) {
  if (!is_bfp(f)) return 0;
  // Lower tiles have at most two faces of 8 rows: 16 exponents or fewer, and the section is never less than 16 bytes.
  if (dim.rows < 16) return 16;
  return 16 * ceil_div(dim.rows, 16) * ceil_div(dim.cols, kFaceCols);
}

std::int32_t tile_datum_bytes(DataFormat f, TileDim dim) { return dim.datums() * bits_per_datum(f) / 8; }

std::int32_t tile_bytes(DataFormat f, TileDim dim, std::int32_t alignment) {
  if (f == DataFormat::invalid) return 0;
  return align_up(kTileHeaderBytes + tile_exponent_bytes(f, dim) + tile_datum_bytes(f, dim), alignment);
}

}  // namespace buda
