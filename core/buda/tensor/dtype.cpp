// SPDX-License-Identifier: Apache-2.0
// Spellings of element types.
#include <buda/tensor/dtype.hpp>

#include <array>

namespace buda {
namespace {

struct Spelling {
  std::string_view name;
  std::string_view descr;
};

constexpr std::array<Spelling, kDTypeCount> kSpellings = {{{"BOOL", "|b1"},
                                                           {"U8", "|u1"},
                                                           {"I8", "|i1"},
                                                           {"U16", "<u2"},
                                                           {"I16", "<i2"},
                                                           {"U32", "<u4"},
                                                           {"I32", "<i4"},
                                                           {"U64", "<u8"},
                                                           {"I64", "<i8"},
                                                           {"F16", "<f2"},
                                                           {"BF16", "<V2"},
                                                           {"F32", "<f4"},
                                                           {"F64", "<f8"}}};

const Spelling& spelling(DType t) { return kSpellings[static_cast<std::size_t>(t)]; }

}  // namespace

std::string_view dtype_name(DType t) { return spelling(t).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (DType t : all_dtypes())
    if (spelling(t).name == name) return t;
  return std::nullopt;
}

std::string_view numpy_descr(DType t) { return spelling(t).descr; }

std::optional<DType> dtype_from_numpy_descr(std::string_view descr) {
  if (!descr.empty() && (descr[0] == '<' || descr[0] == '=' || descr[0] == '|')) descr.remove_prefix(1);
  if (descr == "?") return DType::boolean;
  for (DType t : all_dtypes())
    if (spelling(t).descr.substr(1) == descr) return t;
  return std::nullopt;
}

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> all = [] {
    std::vector<DType> list;
    for (std::size_t i = 0; i < kDTypeCount; ++i) list.push_back(static_cast<DType>(i));
    return list;
  }();
  return all;
}

}  // namespace buda
