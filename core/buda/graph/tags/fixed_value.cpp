// SPDX-License-Identifier: Apache-2.0
// Texts of values.
#include <buda/graph/tags/fixed_value.hpp>

#include <buda/base/hash.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <type_traits>
#include <vector>

namespace buda::graph {
namespace {

constexpr std::size_t kMaxListed = 64;

std::string real_text(double v) { return std::isnan(v) ? "nan" : v == 0 ? "0" : to_text(v); }

std::vector<std::string> element_texts(const Tensor& value) {
  return visit_dtype(value.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<std::string> out;
    out.reserve(value.size());
    for (const T& v : value.as<T>()) {
      if constexpr (std::is_same_v<T, Boolean>) {
        out.emplace_back(v ? "true" : "false");
      } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        out.push_back(real_text(static_cast<double>(to_float(v))));
      } else if constexpr (std::is_integral_v<T>) {
        out.push_back(cat(v));
      } else {
        out.push_back(real_text(static_cast<double>(v)));
      }
    }
    return out;
  });
}

}  // namespace

std::string fixed_value_text(const Tensor& value) {
  const std::vector<std::string> texts = element_texts(value);
  if (texts.size() <= kMaxListed) return list_text(texts);
  Fnv1a hash;
  for (const std::string& text : texts) hash.add(text).add(",");
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "fnv1a:%016llx", static_cast<unsigned long long>(hash.value()));
  return out.data();
}

std::string fixed_value_of(const Node& input) {
  auto tag = input.tags.find(kFixedValue);
  return tag == input.tags.end() ? "" : tag->second;
}

}  // namespace buda::graph
