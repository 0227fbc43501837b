// SPDX-License-Identifier: Apache-2.0
// Tensors: making, sharing, alignment, equality.
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace buda {
namespace {

std::string first_error(const Result<Tensor>& r) {
  return r ? "" : r.failure().diagnostics().front().code + ": " + r.failure().diagnostics().front().message;
}

TEST(Tensor, Default) {
  Tensor t;
  EXPECT_EQ(t.dtype(), DType::f32);
  EXPECT_EQ(t.shape(), (Shape{0}));
  EXPECT_EQ(t.size(), 0u);
  EXPECT_TRUE(t.as<float>().empty());
}

TEST(Tensor, FromVector) {
  Tensor t(Shape{2, 2}, std::vector<std::int64_t>{1, 2, 3, -4});
  EXPECT_EQ(t.dtype(), DType::i64);
  EXPECT_EQ(t.size(), 4u);
  EXPECT_EQ(t.bytes().size(), 32u);
  EXPECT_EQ(t.as<std::int64_t>()[3], -4);
  EXPECT_EQ(t.describe(), "I64 [2, 2]");
  Tensor copy = t;
  EXPECT_EQ(copy.bytes().data(), t.bytes().data()) << "copies share";
}

// Its bytes can be counted, and no machine has them.
TEST(Tensor, MoreThanTheMemory) {
  EXPECT_EQ(first_error(Tensor::zeros(DType::f32, Shape{1, std::int64_t{1} << 60})),
            "TN002: a tensor of 4194304 TiB does not fit in this machine's memory");
}

TEST(Tensor, Scalar) {
  Tensor t = Tensor::scalar(2.5f);
  EXPECT_EQ(t.shape().rank(), 0u);
  EXPECT_EQ(t.as<float>()[0], 2.5f);
  EXPECT_EQ(t.describe(), "F32 []");
}

TEST(Tensor, Zeros) {
  auto t = Tensor::zeros(DType::bf16, {3, 5});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->size(), 15u);
  EXPECT_EQ(t->bytes(), std::string(30, '\0'));
  EXPECT_TRUE(Tensor::zeros(DType::f64, {4, 0})->bytes().empty());
  EXPECT_EQ(
      first_error(Tensor::zeros(DType::f32, {-1, 2})),
      "TN001: a tensor of shape [-1, 2] and type F32 cannot exist: sizes must not be negative, and all bytes together must fit in 63 bits");
  EXPECT_NE(first_error(Tensor::zeros(DType::f64, {std::int64_t{1} << 61})), "") << "elements fit in 63 bits, bytes do not";
}

TEST(Tensor, FromBytesChecksTheSize) {
  io::Bytes eight(std::string(8, '\1'));
  EXPECT_TRUE(Tensor::from_bytes(DType::f32, {2}, eight));
  EXPECT_EQ(first_error(Tensor::from_bytes(DType::f32, {3}, eight)), "TN003: a tensor of shape [3] and type F32 takes 12 bytes, not 8");
  EXPECT_NE(first_error(Tensor::from_bytes(DType::u8, {7}, eight)), "");
  EXPECT_NE(first_error(Tensor::from_bytes(DType::u8, {std::int64_t{1} << 62, 4}, eight)), "");
  EXPECT_TRUE(Tensor::from_bytes(DType::f32, {0, 9}, io::Bytes()));
}

TEST(Tensor, BytesAreSharedAndElementsAligned) {
  const std::vector<double> values = {1.5, -2.5, 1e300};
  std::string text(64 + 24, '\0');
  io::Bytes all(std::move(text));
  auto base = reinterpret_cast<std::uintptr_t>(all.data());
  std::size_t aligned = (8 - base % 8) % 8;
  for (std::size_t shift = 0; shift < 8; ++shift) {
    io::Bytes part = all.slice(aligned + shift, 24);
    std::memcpy(const_cast<char*>(part.data()), values.data(), 24);
    auto t = Tensor::from_bytes(DType::f64, {3}, part);
    ASSERT_TRUE(t);
    EXPECT_EQ(t->bytes().data(), part.data()) << shift;
    auto view = t->as<double>();
    EXPECT_EQ(t->bytes().data() == reinterpret_cast<const char*>(view.data()), shift == 0) << shift;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data()) % 8, 0u);
    EXPECT_EQ(std::vector<double>(view.begin(), view.end()), values);
  }
}

TEST(Tensor, Reshaped) {
  Tensor t(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  auto r = t.reshaped({3, 2});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->shape(), (Shape{3, 2}));
  EXPECT_EQ(r->bytes().data(), t.bytes().data());
  EXPECT_EQ(first_error(t.reshaped({7})), "TN003: a tensor of shape [2, 3] has 6 elements and cannot take shape [7]");
  EXPECT_FALSE(t.reshaped({-2, -3}));
  EXPECT_TRUE(Tensor::scalar(1.0f).reshaped({1, 1}));
}

TEST(Tensor, EqualityIsOfBytes) {
  auto make = [](float v) { return Tensor(Shape{1}, std::vector<float>{v}); };
  EXPECT_EQ(make(1), make(1));
  EXPECT_EQ(make(std::nanf("")), make(std::nanf("")));
  EXPECT_NE(make(0.0f), make(-0.0f));
  EXPECT_NE(make(1), *make(1).reshaped({1, 1}));
  EXPECT_NE(Tensor(Shape{1}, std::vector<std::int32_t>{0}), Tensor(Shape{1}, std::vector<std::uint32_t>{0}));
}

TEST(Tensor, VisitGivesTheElementType) {
  for (DType t : all_dtypes()) {
    visit_dtype(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(kDTypeOf<T>, t);
      EXPECT_EQ(sizeof(T), dtype_size(t));
    });
  }
}

TEST(Tensor, Bytes) {
  EXPECT_EQ(tensor_bytes(DType::f16, {3, 4}), 24);
  EXPECT_EQ(tensor_bytes(DType::f64, {std::int64_t{1} << 60}), std::nullopt);
}

}  // namespace
}  // namespace buda
