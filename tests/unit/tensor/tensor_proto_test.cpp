// SPDX-License-Identifier: Apache-2.0
// TensorProto files: what ONNX's tests hold, what is refused, and that what is written is read back.
#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/files/tensor_proto.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <gtest/gtest.h>

#include <string>

namespace buda {
namespace {

using namespace std::string_literals;

std::string proto_error_of(const std::string& bytes) {
  auto parsed = parse_tensor_proto(io::Bytes(bytes), "t.pb");
  if (parsed) return "";
  const Diagnostic& d = parsed.failure().diagnostics().front();
  EXPECT_EQ(d.code, "TN025");
  EXPECT_EQ(d.loc.file, "t.pb");
  return d.message;
}

// Bytes as protoc --encode writes them: dims 2 and 1, data_type, name "xy".
std::string head(char type) { return "\x08\x02\x08\x01\x10"s + type + "\x42\x02xy"s; }

TEST(TensorProto, RawData) {
  auto parsed = parse_tensor_proto(io::Bytes(head(1) + "\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\xc0"s), "t.pb");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->first, "xy");
  EXPECT_EQ(parsed->second, Tensor(Shape{2, 1}, std::vector<float>{1, -2}));
}

TEST(TensorProto, TypedFields) {
  // int32_data packed with a negative number, which takes ten bytes.
  auto i8 = parse_tensor_proto(io::Bytes(head(3) + "\x2a\x0b\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s), "t.pb");
  ASSERT_TRUE(i8);
  EXPECT_EQ(i8->second, Tensor(Shape{2, 1}, std::vector<std::int8_t>{5, -1}));
  // float_data, one field per element; uint64_data for UINT32; int32_data for FLOAT16.
  auto f32 = parse_tensor_proto(io::Bytes(head(1) + "\x25\x00\x00\x80\x3f\x25\x00\x00\x00\x40"s), "t.pb");
  ASSERT_TRUE(f32);
  EXPECT_EQ(f32->second, Tensor(Shape{2, 1}, std::vector<float>{1, 2}));
  auto u32 = parse_tensor_proto(io::Bytes(head(12) + "\x5a\x06\x01\xff\xff\xff\xff\x0f"s), "t.pb");
  ASSERT_TRUE(u32);
  EXPECT_EQ(u32->second, Tensor(Shape{2, 1}, std::vector<std::uint32_t>{1, 0xffffffffu}));
  auto f16 = parse_tensor_proto(io::Bytes(head(10) + "\x2a\x04\x80\x78\x00\x00"s), "t.pb");
  EXPECT_FALSE(f16);  // three elements
  f16 = parse_tensor_proto(io::Bytes(head(10) + "\x2a\x03\x80\x78\x00"s), "t.pb");
  ASSERT_TRUE(f16);
  EXPECT_EQ(f16->second, Tensor(Shape{2, 1}, std::vector<Half>{Half{0x3c00}, Half{0}}));
}

TEST(TensorProto, BadOnesAreDiagnosed) {
  EXPECT_EQ(proto_error_of(""), "has elements of UNDEFINED; only numbers and booleans of at most 64 bits are supported");
  EXPECT_EQ(proto_error_of(head(8) + "\x32\x01z"s), "has strings as elements; only numbers and booleans are supported");
  EXPECT_EQ(proto_error_of(head(14) + "\x4a\x08\0\0\0\0\0\0\0\0"s),
            "has elements of COMPLEX64; only numbers and booleans of at most 64 bits are supported");
  EXPECT_EQ(proto_error_of(head(1) + "\x4a\x07\0\0\0\0\0\0\0"s), "has 7 bytes of raw_data, and its shape [2, 1] of F32 asks for 8");
  EXPECT_EQ(proto_error_of(head(3) + "\x2a\x01\x05"s), "has 1 elements, and its shape [2, 1] asks for 2");
  EXPECT_EQ(proto_error_of(head(3) + "\x2a\x03\x05\x80\x01"s), "has the element 128, which does not fit I8");
  EXPECT_EQ(proto_error_of(head(7) + "\x2a\x02\x05\x05"s), "has elements in a field that is not the one for INT64");
  EXPECT_EQ(proto_error_of(head(1) + "\x70\x01"s), "has its elements in another file (external data), which only a model can have");
  EXPECT_EQ(proto_error_of("\x08\x01\x4a\x09\x01"s),
            "is not a complete TensorProto: at byte 4 a field of 9 bytes begins, and only 1 bytes are left");
  EXPECT_EQ(proto_error_of("\x98\x01\x01"s), "is not a TensorProto: it has a field of number 19, which ONNX does not define");
  EXPECT_EQ(proto_error_of("\x0a\x01\x80"s), "is not a complete TensorProto: a number in a list is cut off or too long");
  EXPECT_EQ(proto_error_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x08\x04\x10\x07"s),
            "has the impossible shape [9223372036854775807, 4]");
}

TEST(TensorProto, WrittenAndReadBack) {
  for (DType dtype : all_dtypes()) {
    io::MemoryFileSystem fs;
    Tensor tensor = Tensor(Shape{2, 0, 3}, std::vector<float>{}).cast(dtype);
    if (dtype != DType::boolean) tensor = Tensor(Shape{3}, std::vector<float>{1, 2, 100}).cast(dtype);
    ASSERT_TRUE(write_tensors(fs, "x.pb", {{"value", tensor}}));
    auto back = read_tensors(fs, "x.pb");
    ASSERT_TRUE(back) << dtype_name(dtype);
    EXPECT_EQ(back->at("value"), tensor);
  }
}

}  // namespace
}  // namespace buda
