// SPDX-License-Identifier: Apache-2.0
// Spellings and properties of element types.
#include <buda/tensor/dtype.hpp>

#include <gtest/gtest.h>

#include <string>

namespace buda {
namespace {

struct DTypeRow {
  DType type;
  std::size_t size;
  const char* name;
  const char* descr;
};

constexpr DTypeRow kRows[] = {
    {DType::boolean, 1, "BOOL", "|b1"}, {DType::u8, 1, "U8", "|u1"},   {DType::i8, 1, "I8", "|i1"},     {DType::u16, 2, "U16", "<u2"},
    {DType::i16, 2, "I16", "<i2"},      {DType::u32, 4, "U32", "<u4"}, {DType::i32, 4, "I32", "<i4"},   {DType::u64, 8, "U64", "<u8"},
    {DType::i64, 8, "I64", "<i8"},      {DType::f16, 2, "F16", "<f2"}, {DType::bf16, 2, "BF16", "<V2"}, {DType::f32, 4, "F32", "<f4"},
    {DType::f64, 8, "F64", "<f8"},
};

TEST(DType, NamesSizesAndDescrs) {
  ASSERT_EQ(std::size(kRows), all_dtypes().size());
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    const DTypeRow& row = kRows[i];
    EXPECT_EQ(all_dtypes()[i], row.type);
    EXPECT_EQ(dtype_size(row.type), row.size) << row.name;
    EXPECT_EQ(dtype_name(row.type), row.name);
    EXPECT_EQ(numpy_descr(row.type), row.descr);
    EXPECT_EQ(dtype_from_name(row.name), row.type);
    EXPECT_EQ(dtype_from_numpy_descr(row.descr), row.type);
    EXPECT_EQ(dtype_from_numpy_descr(std::string("=") + (row.descr + 1)), row.type) << "native order is little endian";
  }
}

TEST(DType, UnknownSpellings) {
  for (const char* name : {"", "f32", "FLOAT", "F8_E4M3", "F32 ", "C64"}) EXPECT_FALSE(dtype_from_name(name)) << name;
  for (const char* descr : {"", "<", ">f4", ">i2", "<c8", "<U5", "|O", "|S1", "<f4 ", "<f16", "f"})
    EXPECT_FALSE(dtype_from_numpy_descr(descr)) << descr;
  EXPECT_EQ(dtype_from_numpy_descr("?"), DType::boolean);
  EXPECT_EQ(dtype_from_numpy_descr("|V2"), DType::bf16) << "what NumPy without ml_dtypes makes of bf16";
}

TEST(DType, Kinds) {
  for (DType t : all_dtypes()) {
    bool floating = t == DType::f16 || t == DType::bf16 || t == DType::f32 || t == DType::f64;
    EXPECT_EQ(is_float(t), floating);
    EXPECT_EQ(is_integer(t), !floating && t != DType::boolean);
    EXPECT_EQ(is_signed(t), floating || dtype_name(t).front() == 'I');
  }
}

}  // namespace
}  // namespace buda
