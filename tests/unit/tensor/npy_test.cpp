// SPDX-License-Identifier: Apache-2.0
// .npy files, against files that NumPy wrote and against damaged ones.
#include <buda/tensor/files/npy.hpp>

#include "numpy_files.hpp"

#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace buda {
namespace {

Result<Tensor> parse(std::string bytes) { return parse_npy(io::Bytes(std::move(bytes)), "a.npy"); }

std::string error_of(std::string bytes) {
  auto t = parse(std::move(bytes));
  if (t) return "no error";
  const Diagnostic& d = t.failure().diagnostics().front();
  EXPECT_EQ(d.loc.file, "a.npy");
  EXPECT_EQ(d.code, "TN020");
  EXPECT_EQ(d.fault, Fault::input);
  return d.message;
}

// A file of version 1 with this header and these bytes of elements.
std::string file(std::string header, std::size_t bytes) {
  std::string out = "\x93NUMPY";
  out += '\1';
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out + header + std::string(bytes, '\0');
}

const Tensor kFloats(Shape{2, 3}, std::vector<float>{1.5f, -2, 3, 4, 5, 6.25f});

TEST(Npy, WhatNumpyWrote) {
  for (std::string_view hex :
       {numpy_files::kFloats, numpy_files::kFloatsFortran, numpy_files::kFloatsVersion2, numpy_files::kFloatsVersion3}) {
    auto t = parse(numpy_files::bytes(hex));
    ASSERT_TRUE(t) << t.failure().diagnostics().front().message;
    EXPECT_EQ(*t, kFloats);
  }
  std::vector<std::int16_t> count(24);
  std::iota(count.begin(), count.end(), std::int16_t{0});
  EXPECT_EQ(*parse(numpy_files::bytes(numpy_files::kCubeFortran)), Tensor(Shape{2, 3, 4}, count));
  EXPECT_EQ(*parse(numpy_files::bytes(numpy_files::kScalar)), Tensor::scalar(std::int64_t{7}));
  EXPECT_EQ(*parse(numpy_files::bytes(numpy_files::kBooleans)), Tensor(Shape{3}, std::vector<Boolean>{{1}, {0}, {1}}));
  EXPECT_EQ(*parse(numpy_files::bytes(numpy_files::kEmpty)), Tensor(Shape{0, 3}, std::vector<double>{}));
}

TEST(Npy, SharesTheBytes) {
  std::string content = numpy_files::bytes(numpy_files::kFloats);
  io::Bytes bytes(content);
  auto t = parse_npy(bytes, "a.npy");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->bytes().data(), bytes.data() + 128) << "NumPy's header takes 128 bytes";
}

TEST(Npy, HeadersInOtherSpellings) {
  EXPECT_TRUE(parse(file("{'shape':(2,),'fortran_order':False,'descr':'<u2'}", 4))) << "keys in any order, no spaces";
  EXPECT_TRUE(parse(file("{ \"descr\" : \"|u1\", \"fortran_order\": True , 'shape': ( 2 , 3 ) , } \n", 6)));
  EXPECT_TRUE(parse(file("{'descr': '<i4', 'fortran_order': False, 'shape': (3L, 1L)}", 12))) << "Python 2";
  EXPECT_EQ(parse(file("{'descr': '|V2', 'fortran_order': False, 'shape': (3,)}", 6))->dtype(), DType::bf16);
  EXPECT_EQ(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4))->shape(), Shape{});
}

TEST(Npy, BadHeaders) {
  EXPECT_EQ(error_of(""), "is not an .npy file: it does not begin with \"\\x93NUMPY\"");
  EXPECT_EQ(error_of("\x93NUMPY\x01"), "ends after 7 bytes, within the beginning of an .npy file");
  EXPECT_EQ(error_of(std::string("\x93NUMPY\x04\x00\x00\x00", 10)), "is of version 4 of the .npy format; versions 1, 2 and 3 are known");
  EXPECT_EQ(error_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
            "ends within its header: 4294967295 bytes are announced, 0 follow");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'fortran_order': False, }", 0)),
            "the header lacks one of 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", 24)),
            "the header has '3' at byte 53 where ',' or ')' is expected");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", 4)),
            "the header has '0' at byte 34 where True or False is expected");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'descr': '<f4'}", 4)),
            "the header has 'descr' twice or it is unknown; it takes 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(error_of(file("{'descr': '<f4' 'shape': ()}", 4)), "the header has ''' at byte 16 where ',' or '}' is expected");
  EXPECT_EQ(error_of(file("{'descr': '<f4", 4)), "the header has ''' at byte 10 where the end of this string is expected");
  EXPECT_EQ(error_of(file("[1]", 4)), "the header has '[' at byte 0 where '{' is expected");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4)),
            "the header has 'x' at byte 56 where nothing more is expected");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4)),
            "the header has '-' at byte 51 where a size below 2^63 is expected");
  EXPECT_EQ(error_of(file("{", 0)), "the header has its end at byte 1 where a string is expected");
  EXPECT_NE(error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4)), "no error");
}

TEST(Npy, BadElements) {
  EXPECT_EQ(error_of(numpy_files::bytes(numpy_files::kBigEndian)),
            "elements of NumPy type '>i2' are not supported; little-endian numbers and booleans are");
  EXPECT_EQ(error_of(numpy_files::bytes(numpy_files::kRecords)), "the elements are records; arrays of numbers are supported");
  EXPECT_EQ(error_of(file("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8)),
            "elements of NumPy type '|O' are not supported; little-endian numbers and booleans are");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7)),
            "an array of shape [2] and type F32 takes 8 bytes, but 7 follow the header");
  EXPECT_EQ(error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9)),
            "an array of shape [2] and type F32 takes 8 bytes, but 9 follow the header");
  EXPECT_EQ(error_of(file("{'descr': '<f8', 'fortran_order': True, 'shape': (4294967296, 4294967296)}", 0)),
            "an array of shape [4294967296, 4294967296] and type F64 takes more bytes than can be addressed, but 0 follow the header");
}

TEST(Npy, WritesWhatItReads) {
  for (DType type : all_dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape(std::vector<std::int64_t>(30, 1))}) {
      auto volume = static_cast<std::size_t>(*shape.volume());
      std::vector<float> numbers(volume);
      std::iota(numbers.begin(), numbers.end(), 0.0f);
      Tensor t = Tensor(shape, numbers).cast(type);
      std::string header = npy_header(t);
      EXPECT_EQ(header.size() % 64, 0u);
      EXPECT_EQ(header.back(), '\n');
      auto back = parse(header + std::string(t.bytes()));
      ASSERT_TRUE(back) << back.failure().diagnostics().front().message;
      EXPECT_EQ(*back, t);
    }
  }
}

TEST(Npy, HeaderByHand) {
  std::string header = npy_header(kFloats);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
  EXPECT_NE(npy_header(Tensor(Shape{1}, std::vector<float>{0})).find("(1,)"), std::string::npos) << "a tuple of one has a comma";
  EXPECT_NE(npy_header(Tensor::scalar(1.0f)).find("'shape': (), "), std::string::npos);
}

TEST(Npy, LongHeadersAreVersion2) {
  Tensor t(Shape(std::vector<std::int64_t>(25000, 1)), std::vector<std::uint8_t>{9});
  std::string header = npy_header(t);
  EXPECT_EQ(header[6], '\2');
  EXPECT_EQ(header.size() % 64, 0u);
  auto back = parse(header + std::string(t.bytes()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, t);
}

TEST(Npy, FortranOrderOfManyShapes) {
  for (const Shape& shape : {Shape{4, 5}, Shape{2, 3, 4, 5}, Shape{1, 7, 1}, Shape{3}, Shape{2, 0, 3}}) {
    // Element at index (i, j, …) is its number in C order; its place in the file is i + j * size_0 + ….
    auto volume = static_cast<std::size_t>(*shape.volume());
    std::vector<std::int32_t> c(volume), fortran(volume);
    std::iota(c.begin(), c.end(), 0);
    std::vector<std::int64_t> strides = shape.strides();
    for (std::size_t n = 0; n < volume; ++n) {
      std::size_t at = 0, step = 1;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        auto size = static_cast<std::size_t>(shape[axis]);
        at += n / static_cast<std::size_t>(strides[axis]) % size * step;
        step *= size;
      }
      fortran[at] = c[n];
    }
    std::string tuple = shape.text();
    tuple.front() = '(';
    tuple.back() = ',';
    std::string bytes = file("{'descr': '<i4', 'fortran_order': True, 'shape': " + tuple + ")}", volume * 4);
    if (volume != 0) std::memcpy(bytes.data() + bytes.size() - volume * 4, fortran.data(), volume * 4);
    auto t = parse(bytes);
    ASSERT_TRUE(t) << t.failure().diagnostics().front().message;
    EXPECT_EQ(*t, Tensor(shape, c)) << shape.text();
  }
}

}  // namespace
}  // namespace buda
