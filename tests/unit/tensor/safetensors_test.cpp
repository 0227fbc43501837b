// SPDX-License-Identifier: Apache-2.0
// safetensors files: mapping, validation, canonical output.
#include <buda/tensor/files/safetensors.hpp>

#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace buda {
namespace {

std::string safetensors_file(std::string header, std::size_t data) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i));
  return out + header + std::string(data, '\7');
}

Result<NamedTensors> safetensors_parse(std::string bytes) { return parse_safetensors(io::Bytes(std::move(bytes)), "w.safetensors"); }

std::string safetensors_error_of(std::string bytes) {
  auto t = safetensors_parse(std::move(bytes));
  if (t) return "no error";
  const Diagnostic& d = t.failure().diagnostics().front();
  EXPECT_EQ(d.loc.file, "w.safetensors");
  EXPECT_EQ(d.loc.line, 0u) << "a line of the header is no line of the file";
  return d.message;
}

std::string written(const NamedTensors& tensors) {
  io::MemoryFileSystem fs;
  auto out = fs.create("w", io::WriteMode::always);
  EXPECT_TRUE(write_safetensors(**out, tensors));
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("w")->view());
}

TEST(Safetensors, Reads) {
  std::string bytes = safetensors_file(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[2,18]},"a":{"shape":[],"data_offsets":[0,2],"dtype":"BF16"},)"
      R"("none":{"dtype":"I64","shape":[3,0],"data_offsets":[18,18]}}   )",
      18);
  auto t = safetensors_parse(bytes);
  ASSERT_TRUE(t) << t.failure().diagnostics().front().message;
  ASSERT_EQ(t->size(), 3u);
  EXPECT_EQ(t->at("a"), Tensor::scalar(BFloat16{0x0707}));
  EXPECT_EQ(t->at("b").describe(), "F32 [2, 2]");
  EXPECT_EQ(t->at("b").bytes(), std::string(16, '\7'));
  EXPECT_EQ(t->at("none").describe(), "I64 [3, 0]");
  EXPECT_TRUE(safetensors_parse(safetensors_file("{}", 0))->empty());
}

TEST(Safetensors, SharesDataAndAlignsElements) {
  // The header takes 8 + 104 bytes: "b" begins at an address that is a multiple of 4 if the whole does, "c" two bytes later.
  std::string header = R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"c":{"dtype":"U16","shape":[1],"data_offsets":[4,6]},)"
                       R"("d":{"dtype":"F32","shape":[1],"data_offsets":[6,10]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  io::Bytes bytes(safetensors_file(header, 10));
  auto t = parse_safetensors(bytes, "w");
  ASSERT_TRUE(t);
  const char* data = bytes.data() + 8 + header.size();
  EXPECT_EQ(t->at("b").bytes().data(), data);
  EXPECT_EQ(t->at("c").bytes().data(), data + 4);
  EXPECT_EQ(t->at("d").bytes().data(), data + 6);
  EXPECT_EQ(t->at("d").bytes(), std::string(4, '\7'));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t->at("d").as<float>().data()) % 4, 0u);
}

TEST(Safetensors, BadHeaders) {
  EXPECT_EQ(safetensors_error_of("1234567"), "is too short for a safetensors file: 7 bytes");
  EXPECT_EQ(safetensors_error_of(std::string("\x09\0\0\0\0\0\0\0{}", 10)), "ends within its header: 9 bytes are announced, 2 follow");
  EXPECT_EQ(safetensors_error_of(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
            "announces a header of 18446744073709551615 bytes; at most 100000000 are allowed");
  EXPECT_EQ(safetensors_error_of(safetensors_file("[]", 0)), "the header is a list, not a map of tensors");
  EXPECT_NE(safetensors_error_of(safetensors_file("{\"a\":}", 0)).find("the header is not JSON: "), std::string::npos);
  EXPECT_NE(safetensors_error_of(safetensors_file("", 0)).find("the header is not JSON: "), std::string::npos);
  EXPECT_NE(safetensors_error_of(
                safetensors_file(
                    R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2))
                .find("'a'"),
            std::string::npos)
      << "names must be different";
  EXPECT_EQ(safetensors_error_of(safetensors_file(R"({"__metadata__":{"n":1}})", 0)), "'__metadata__' is not a map of strings");
  EXPECT_EQ(safetensors_error_of(safetensors_file(R"({"__metadata__":[]})", 0)), "'__metadata__' is not a map of strings");
}

TEST(Safetensors, BadEntries) {
  auto entry = [](std::string_view text, std::size_t data = 8) { return safetensors_file("{\"a\":" + std::string(text) + "}", data); };
  EXPECT_EQ(safetensors_error_of(entry("3")), "tensor 'a': its description is the number 3, not a map");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1})")),
            "tensor 'a': unknown key 'x'; there are 'dtype', 'shape' and 'data_offsets'");
  EXPECT_EQ(safetensors_error_of(entry(R"({"shape":[2],"data_offsets":[0,8]})")), "tensor 'a': 'dtype' is missing or not a string");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]})")),
            "tensor 'a': elements of type 'F8_E4M3' are not supported; there are BOOL, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, "
            "F32, F64");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})")),
            "tensor 'a': 'shape' is missing or not a list of sizes");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})")),
            "tensor 'a': 'shape' is missing or not a list of sizes");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})")),
            "tensor 'a': 'shape' is missing or not a list of sizes");
  for (const char* offsets : {"[0]", "[0,8,9]", "[8,0]", "[-1,7]", "\"0\"", "[0,1e1]", "null"})
    EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":[2],"data_offsets":)" + std::string(offsets) + "}")),
              "tensor 'a': 'data_offsets' is missing or not [begin, end]")
        << offsets;
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 7)),
            "tensor 'a': its data, bytes 0 to 8, reaches beyond the 7 bytes of data in the file");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,9223372036854775807]})")),
            "tensor 'a': its data, bytes 0 to 9223372036854775807, reaches beyond the 8 bytes of data in the file");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})")),
            "tensor 'a': shape [3] and type F32 take 12 bytes, but it has 8");
  EXPECT_EQ(safetensors_error_of(entry(R"({"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]})", 0)),
            "tensor 'a': shape [4611686018427387904, 4] and type F64 take more bytes than can be addressed, but it has 0");
}

TEST(Safetensors, DataMustBeCoveredOnce) {
  auto two = [](int a0, int a1, int b0, int b1, std::size_t data) {
    auto entry = [](char name, int begin, int end) {
      return "\"" + std::string(1, name) + R"(":{"dtype":"U8","shape":[)" + std::to_string(end - begin) + R"(],"data_offsets":[)" +
             std::to_string(begin) + "," + std::to_string(end) + "]}";
    };
    return safetensors_file("{" + entry('a', a0, a1) + "," + entry('b', b0, b1) + "}", data);
  };
  EXPECT_EQ(safetensors_error_of(two(0, 4, 4, 8, 8)), "no error");
  EXPECT_EQ(safetensors_error_of(two(4, 8, 0, 4, 8)), "no error") << "the order in the header does not matter";
  EXPECT_EQ(safetensors_error_of(two(0, 5, 4, 8, 8)), "the data of tensors 'a' and 'b' overlaps at byte 4");
  EXPECT_EQ(safetensors_error_of(two(0, 8, 2, 4, 8)), "the data of tensors 'a' and 'b' overlaps at byte 2");
  EXPECT_EQ(safetensors_error_of(two(0, 8, 0, 8, 8)), "the data of tensors 'a' and 'b' overlaps at byte 0");
  EXPECT_EQ(safetensors_error_of(two(0, 3, 4, 8, 8)), "bytes 3 to 4 of the data belong to no tensor");
  EXPECT_EQ(safetensors_error_of(two(0, 4, 4, 8, 9)), "bytes 8 to 9 of the data belong to no tensor");
  EXPECT_EQ(safetensors_error_of(two(1, 4, 4, 8, 8)), "bytes 0 to 1 of the data belong to no tensor");
  EXPECT_EQ(safetensors_error_of(safetensors_file("{}", 3)), "bytes 0 to 3 of the data belong to no tensor");
}

TEST(Safetensors, ReportsAllBadTensors) {
  auto t = safetensors_parse(safetensors_file(R"({"a":1,"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"c":2})", 4));
  ASSERT_FALSE(t);
  EXPECT_EQ(t.failure().diagnostics().size(), 2u);
}

TEST(Safetensors, WritesCanonically) {
  NamedTensors tensors{{"b", Tensor(Shape{2}, std::vector<std::uint8_t>{1, 2})},
                       {"a\"\n", Tensor(Shape{1, 1}, std::vector<float>{1.0f})},
                       {"c", Tensor::scalar(BFloat16{0x3f80})}};
  std::string bytes = written(tensors);
  std::string header =
      R"({"a\"\n": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}, "b": {"dtype": "U8", "shape": [2], "data_offsets": [6, 8]}, )"
      R"("c": {"dtype": "BF16", "shape": [], "data_offsets": [4, 6]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string expected = safetensors_file(header, 0) + std::string("\0\0\x80\x3f\x80\x3f\1\2", 8);
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(*safetensors_parse(bytes), tensors);
}

TEST(Safetensors, EverythingWrittenIsAligned) {
  NamedTensors tensors;
  for (DType type : all_dtypes()) tensors.emplace(std::string(dtype_name(type)), Tensor(Shape{3}, std::vector<float>{0, 1, 2}).cast(type));
  io::Bytes bytes(written(tensors));
  auto back = parse_safetensors(bytes, "w");
  ASSERT_TRUE(back) << back.failure().diagnostics().front().message;
  EXPECT_EQ(*back, tensors);
  for (const auto& [name, tensor] : *back) {
    EXPECT_GE(tensor.bytes().data(), bytes.data()) << name;
    EXPECT_LE(tensor.bytes().data() + tensor.bytes().size(), bytes.data() + bytes.size()) << name << " was not shared";
  }
}

TEST(Safetensors, NamesThatCannotBeWritten) {
  io::MemoryFileSystem fs;
  auto out = fs.create("w", io::WriteMode::always);
  EXPECT_FALSE(write_safetensors(**out, {{"__metadata__", Tensor()}}));
  EXPECT_FALSE(write_safetensors(**out, {{"\xc0", Tensor()}}));
}

}  // namespace
}  // namespace buda
