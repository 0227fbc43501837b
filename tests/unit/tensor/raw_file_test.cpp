// SPDX-License-Identifier: Apache-2.0
// Tensors that lie bare in a file, aligned or not.
#include <buda/tensor/files/raw_file.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace buda {
namespace {

using testing::HasSubstr;

// `before` bytes, then the numbers 0, 1, 2, …, then two bytes more.
io::Bytes file_of(std::size_t before, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i);
  std::string bytes(before + count * sizeof(float) + 2, '#');
  std::memcpy(bytes.data() + before, numbers.data(), count * sizeof(float));
  return io::Bytes(std::move(bytes));
}

RawPlace place_in(const io::Bytes& file, std::int64_t offset) { return {offset, static_cast<std::int64_t>(file.size())}; }

TEST(RawFile, ElementsAreAlignedWhereverTheyLie) {
  constexpr std::size_t kCount = 5'000'000;  // several parts of a copy
  for (std::int64_t offset = 0; offset < 5; ++offset) {
    io::Bytes file = file_of(static_cast<std::size_t>(offset), kCount);
    auto tensor = raw_tensor(file, "m.onnx", place_in(file, offset), DType::f32, {5, 1'000'000});
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->bytes().data(), file.data() + offset) << "nothing is copied before somebody asks";
    Tensor flat = tensor->reshaped({5'000'000}).value(), other = flat;
    auto elements = flat.as<float>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(elements.data()) % alignof(float), 0u);
    EXPECT_EQ(elements.data(), other.as<float>().data()) << "copies of a tensor share the copy of its elements";
    ASSERT_EQ(elements.size(), kCount);
    for (std::size_t i = 0; i < kCount; i += 99'999) ASSERT_EQ(elements[i], static_cast<float>(i));
    EXPECT_EQ(elements.back(), static_cast<float>(kCount - 1));
  }
}

TEST(RawFile, ThreadsMayAskAtTheSameTime) {
  io::Bytes file = file_of(1, 1'000'000);
  Tensor tensor = raw_tensor(file, "m.onnx", place_in(file, 1), DType::f32, {1'000'000}).value();
  const float* seen[4] = {};
  std::vector<std::thread> threads;
  for (auto& s : seen) threads.emplace_back([&] { s = tensor.as<float>().data(); });
  for (auto& t : threads) t.join();
  for (const float* s : seen) EXPECT_EQ(s, seen[0]);
  EXPECT_EQ(seen[0][999'999], 999'999.0f);
}

std::string refusal(const io::Bytes& file, RawPlace place, Shape shape) {
  auto tensor = raw_tensor(file, "m.onnx", place, DType::f32, std::move(shape));
  if (tensor) return "";
  EXPECT_EQ(tensor.failure().diagnostics().front().code, "TN015");
  EXPECT_EQ(tensor.failure().diagnostics().front().loc.file, "m.onnx");
  return tensor.failure().diagnostics().front().message;
}

TEST(RawFile, BadPlaces) {
  io::Bytes file = file_of(0, 4);
  EXPECT_EQ(refusal(file, {0, 18}, {4}), "");
  EXPECT_EQ(refusal(file, {2, 18}, {4}), "");
  EXPECT_THAT(refusal(file, {3, 18}, {4}), HasSubstr("do not hold a tensor of F32 [4] at byte 3"));
  EXPECT_THAT(refusal(file, {-1, 18}, {1}), HasSubstr("at byte -1"));
  EXPECT_THAT(refusal(file, {INT64_MAX, 18}, {1}), HasSubstr("do not hold"));
  EXPECT_THAT(refusal(file, {0, 18}, {-1}), HasSubstr("do not hold"));
  EXPECT_THAT(refusal(file, {0, 18}, {INT64_MAX}), HasSubstr("do not hold"));
  EXPECT_THAT(refusal(file, {0, 17}, {4}), HasSubstr("it was replaced"));
}

}  // namespace
}  // namespace buda
