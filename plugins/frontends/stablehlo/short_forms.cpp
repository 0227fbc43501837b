// SPDX-License-Identifier: Apache-2.0
// The short names of attributes, by operation, and attributes that are written without a name.
#include "short_forms.hpp"

#include "dense.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

struct ShortName {
  std::string_view op, shorter, full;
};

// Sorted by nothing: the first row that fits is taken; an empty op stands for all.
constexpr ShortName kShortNames[] = {
    {"transpose", "dims", "permutation"},
    {"reverse", "dims", "dimensions"},
    {"", "dims", "broadcast_dimensions"},
    {"iota", "dim", "iota_dimension"},
    {"dynamic_iota", "dim", "iota_dimension"},
    {"", "dim", "dimension"},
    {"", "sizes", "slice_sizes"},
    {"", "low", "edge_padding_low"},
    {"", "high", "edge_padding_high"},
    {"", "interior", "interior_padding"},
    {"fft", "type", "fft_type"},
    {"fft", "length", "fft_length"},
    {"rng_bit_generator", "algorithm", "rng_algorithm"},
    {"rng", "distribution", "rng_distribution"},
    {"convolution", "dim_numbers", "dimension_numbers"},
    {"", "across dimensions", "dimensions"},
};

struct UnnamedAttribute {
  std::string_view op;
  std::size_t place;
  std::string_view name;
};

constexpr UnnamedAttribute kUnnamed[] = {
    {"compare", 0, "comparison_direction"},           {"compare", 1, "compare_type"},
    {"custom_call", 0, "call_target_name"},           {"composite", 0, "name"},
    {"broadcast_compare", 0, "comparison_direction"}, {"call", 0, "callee"},
};

Dims column(const std::vector<Dims>& rows, std::size_t i) {
  Dims out;
  for (const Dims& row : rows) out.push_back(row[i]);
  return out;
}

Attribute list_of(const Dims& integers) {
  Attribute::List out;
  for (auto i : integers) out.push_back({i});
  return {std::move(out)};
}

// [0] x [1] of a dot_general: one list for each operand.
void set_pair(Attributes& out, const Attributes& named, std::string_view shorter, std::string_view full) {
  const Attribute* pair = named.find(shorter);
  const auto* both = pair == nullptr ? nullptr : pair->as<Attribute::List>();
  if (both == nullptr || both->size() != 2) return;
  out.set(cat("lhs_", full), (*both)[0]);
  out.set(cat("rhs_", full), (*both)[1]);
}

// "e5m10": bits of the exponent and of the mantissa.
void set_format(Attributes& out, const std::string& format) {
  const auto m = format.find('m');
  if (!format.starts_with('e') || m == std::string::npos) return;
  if (auto bits = parse_int(std::string_view(format).substr(1, m - 1))) out.set("exponent_bits", {*bits});
  if (auto bits = parse_int(std::string_view(format).substr(m + 1))) out.set("mantissa_bits", {*bits});
}

// window = {stride = …, pad = …, lhs_dilate = …, rhs_dilate = …, reverse = …}.
void set_window(Attributes& out, const Attributes& window) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"stride", "window_strides"},
                                                                             {"pad", "padding"},
                                                                             {"lhs_dilate", "lhs_dilation"},
                                                                             {"rhs_dilate", "rhs_dilation"},
                                                                             {"reverse", "window_reversal"}};
  for (const auto& [shorter, full] : kNames)
    if (const Attribute* value = window.find(shorter)) out.set(std::string(full), *value);
}

}  // namespace

void name_attributes(Operation& op, ShortForm form) {
  const std::string_view short_name = std::string_view(op.name).substr(op.name.rfind('.') + 1);
  Attributes& out = op.attributes;
  for (const auto& unnamed : kUnnamed)
    if (unnamed.op == short_name && unnamed.place < form.words.size()) out.set(std::string(unnamed.name), {form.words[unnamed.place]});
  if (short_name == "dot_general") {
    Attributes axes;
    set_pair(axes, form.named, "batching_dims", "batching_dimensions");
    set_pair(axes, form.named, "contracting_dims", "contracting_dimensions");
    out.set("dot_dimension_numbers", {std::move(axes)});
  }
  if (const Attribute* format = form.named.find("format"))
    if (const auto* text = format->as<std::string>()) set_format(out, *text);
  if (const Attribute* window = form.named.find("window"))
    if (const auto* entries = window->as<Attributes>()) set_window(out, *entries);
  for (const auto& row : kShortNames)
    if (row.op.empty() || row.op == short_name)
      if (const Attribute* value = form.named.find(row.shorter); value != nullptr && out.find(row.full) == nullptr) {
        const bool taken = std::any_of(std::begin(kShortNames), &row, [&](const ShortName& earlier) {
          return earlier.shorter == row.shorter && earlier.op == short_name;
        });
        if (!taken) out.set(std::string(row.full), *value);
      }
  if (!form.slices.empty()) {
    if (short_name == "get_tuple_element") {
      out.set("index", {form.slices[0][0]});
    } else {
      out.set("start_indices", list_of(column(form.slices, 0)));
      out.set("limit_indices", list_of(column(form.slices, 1)));
      out.set("strides", list_of(column(form.slices, 2)));
    }
  }
  out.merge(std::move(form.named));
}

}  // namespace buda::stablehlo
