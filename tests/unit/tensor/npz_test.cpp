// SPDX-License-Identifier: Apache-2.0
// .npz files and the zip archives beneath: NumPy's, ours, ZIP64, and archives that lie.
#include <buda/tensor/files/npz.hpp>

#include "numpy_files.hpp"

#include <buda/base/rng.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/files/zip.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace buda {
namespace {

const Tensor kNpzFloats(Shape{2, 3}, std::vector<float>{1.5f, -2, 3, 4, 5, 6.25f});
const Tensor kLabel(Shape{2}, std::vector<std::uint8_t>{3, 1});

std::string npz_error_of(std::string bytes) {
  auto t = parse_npz(io::Bytes(std::move(bytes)), "a.npz");
  if (t) return "no error";
  const Diagnostic& d = t.failure().diagnostics().front();
  EXPECT_EQ(d.loc.file, "a.npz");
  return d.code + ": " + d.message;
}

std::string written(const NamedTensors& tensors, ZipMethod method) {
  io::MemoryFileSystem fs;
  auto out = fs.create("a.npz", io::WriteMode::always);
  EXPECT_TRUE(write_npz(**out, tensors, method));
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("a.npz")->view());
}

struct File {
  std::string name, content;
  ZipMethod method = ZipMethod::stored;
};

std::string zipped(const std::vector<File>& files, std::uint64_t zip64_from = 0xffffffff) {
  io::MemoryFileSystem fs;
  auto out = fs.create("a.zip", io::WriteMode::always);
  ZipWriter zip(**out, zip64_from);
  for (const File& f : files) {
    const std::string_view pieces[] = {std::string_view(f.content).substr(0, 3),
                                       std::string_view(f.content).substr(std::min<std::size_t>(3, f.content.size()))};
    EXPECT_TRUE(zip.add(f.name, pieces, f.method));
  }
  EXPECT_TRUE(zip.finish());
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("a.zip")->view());
}

// Overwrites bytes that stand `offset` after the first `mark`.
void patch(std::string& bytes, std::string_view mark, std::size_t offset, std::string_view value) {
  std::size_t at = bytes.find(mark);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at + offset, value.size(), value);
}

constexpr std::string_view kLocal = "PK\3\4", kEntry = "PK\1\2", kEnd = "PK\5\6";

TEST(Npz, WhatNumpyWrote) {
  for (std::string_view hex : {numpy_files::kStored, numpy_files::kDeflated}) {
    auto t = parse_npz(io::Bytes(numpy_files::bytes(hex)), "a.npz");
    ASSERT_TRUE(t) << t.failure().diagnostics().front().message;
    EXPECT_EQ(*t, (NamedTensors{{"label", kLabel}, {"x", kNpzFloats}}));
  }
}

TEST(Npz, RoundTrips) {
  Rng rng(1);
  std::vector<double> many(20000);
  for (double& v : many) v = rng.uniform();
  NamedTensors tensors{{"x", kNpzFloats},
                       {"label", kLabel},
                       {"layer/0.weight", Tensor(Shape{100, 200}, many)},
                       {"", Tensor::scalar(Half{0x3c00})},
                       {"größe", Tensor(Shape{0}, std::vector<std::int32_t>{})},
                       {"zeros", *Tensor::zeros(DType::f32, {1000, 1000})}};
  std::string stored = written(tensors, ZipMethod::stored), deflated = written(tensors, ZipMethod::deflated);
  EXPECT_LT(deflated.size() + 3'000'000, stored.size());
  for (const std::string& bytes : {stored, deflated}) {
    auto back = parse_npz(io::Bytes(bytes), "a.npz");
    ASSERT_TRUE(back) << back.failure().diagnostics().front().message;
    EXPECT_EQ(*back, tensors);
  }
  EXPECT_EQ(stored, written(tensors, ZipMethod::stored)) << "same tensors, same bytes";
  EXPECT_TRUE(parse_npz(io::Bytes(written({}, ZipMethod::stored)), "a.npz")->empty());
}

TEST(Npz, OtherMembersAreErrors) {
  EXPECT_EQ(npz_error_of(zipped({{"data.pkl", "x"}})),
            "TN021: is a zip archive, but not an .npz file: its member 'data.pkl' is not a .npy file");
  EXPECT_EQ(npz_error_of(zipped({{"a.npy", "hello"}})),
            "TN020: member 'a.npy': is not an .npy file: it does not begin with \"\\x93NUMPY\"");
  auto other = parse_npz(io::Bytes(zipped({{"data.pkl", "x"}, {"version", "3"}})), "a.npz");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.failure().diagnostics().size(), 1u) << "one member is enough to tell";
  // All of them are reported.
  auto t = parse_npz(io::Bytes(zipped({{"a.npy", "hello"}, {"b", ""}})), "a.npz");
  ASSERT_FALSE(t);
  EXPECT_EQ(t.failure().diagnostics().size(), 2u);
}

TEST(Npz, NamesThatCannotBeWritten) {
  io::MemoryFileSystem fs;
  auto out = fs.create("a.npz", io::WriteMode::always);
  EXPECT_FALSE(write_npz(**out, {{std::string(70000, 'n'), kLabel}}));
  EXPECT_FALSE(write_npz(**out, {{"\xff", kLabel}}));
}

TEST(Zip, MembersOfBothMethods) {
  std::vector<File> files = {
      {"a", "stored"}, {"b", std::string(100000, 'b'), ZipMethod::deflated}, {"c", ""}, {"d", "", ZipMethod::deflated}, {"folder/", ""}};
  io::Bytes bytes(zipped(files));
  auto members = parse_zip(bytes, "a.zip");
  ASSERT_TRUE(members) << members.failure().diagnostics().front().message;
  ASSERT_EQ(members->size(), 4u) << "the folder is passed over";
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((*members)[i].name, files[i].name);
    EXPECT_EQ((*members)[i].content.view(), files[i].content);
  }
  EXPECT_EQ((*members)[0].content.data(), bytes.data() + 30 + 1) << "a stored member shares the archive's memory";
}

TEST(Zip, Zip64) {
  std::vector<File> files = {{"a", "0123456789"}, {"b", std::string(5000, 'b'), ZipMethod::deflated}, {"c", "x"}};
  std::string plain = zipped(files);
  for (std::uint64_t from : {0, 2, 9, 10, 11, 40, 60, 100, 5000, 5001}) {
    std::string bytes = zipped(files, from);
    EXPECT_EQ(bytes == plain, from > 5000) << from;
    auto members = parse_zip(io::Bytes(bytes), "a.zip");
    ASSERT_TRUE(members) << from << ": " << members.failure().diagnostics().front().message;
    ASSERT_EQ(members->size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ((*members)[i].content.view(), files[i].content) << from;
  }
}

TEST(Zip, ManyMembers) {
  std::vector<File> files;
  for (int i = 0; i < 70000; ++i) files.push_back({std::to_string(i), ""});
  auto members = parse_zip(io::Bytes(zipped(files)), "a.zip");
  ASSERT_TRUE(members) << members.failure().diagnostics().front().message;
  EXPECT_EQ(members->size(), 70000u);
}

TEST(Zip, ACommentAtTheEnd) {
  const std::string comment = "PK\5\6 looks like the end, but is not.";
  std::string bytes = zipped({{"a", "x"}});
  bytes[bytes.size() - 2] = static_cast<char>(comment.size());
  bytes += comment;
  auto members = parse_zip(io::Bytes(bytes), "a.zip");
  ASSERT_TRUE(members) << members.failure().diagnostics().front().message;
  EXPECT_EQ(members->size(), 1u);
}

TEST(Zip, Lies) {
  const std::string content(200, 'x');
  const std::string good = zipped({{"a.npy", content, ZipMethod::deflated}, {"b.npy", content}});
  struct Row {
    std::string_view mark;
    std::size_t offset;
    std::string_view value;
    const char* message;
  };
  using namespace std::string_view_literals;
  const Row rows[] = {
      {kEntry, 8, "\1\0"sv, "TN021: member 'a.npy' is encrypted"},
      {kEntry, 10, "\x0e\0"sv, "TN021: member 'a.npy' is packed by method 14; 0 (stored) and 8 (deflated) are known"},
      {kEntry, 10, "\0\0"sv, "TN021: member 'a.npy' is damaged: it does not have the 200 bytes that the directory of the archive states"},
      {kEntry, 16, "\0\0\0\0"sv, "TN021: member 'a.npy' is damaged: its checksum does not match"},
      {kEntry, 24, "\xc9\0\0\0"sv,
       "TN021: member 'a.npy' is damaged: it does not have the 201 bytes that the directory of the archive states"},
      {kEntry, 24, "\xc7\0\0\0"sv,
       "TN021: member 'a.npy' is damaged: it does not have the 199 bytes that the directory of the archive states"},
      {kEntry, 24, "\xfe\xff\xff\xff"sv,
       "TN021: member 'a.npy' is damaged: it does not have the 4294967294 bytes that the directory of the archive states"},
      {kEntry, 24, "\xff\xff\xff\xff"sv, "TN021: has a damaged directory: the ZIP64 field of member 'a.npy'"},
      {kEntry, 42, "\1\0\0\0"sv, "TN021: member 'a.npy' is not where the directory says"},
      {kEntry, 42, "\xf0\xff\xff\xff"sv, "TN021: member 'a.npy' is not where the directory says"},
      {kEntry, 46, "z"sv, "TN021: member 'z.npy' is not where the directory says"},
      {kEntry, 46, "\xff"sv, "TN021: has a member whose name is not UTF-8"},
      {kEntry, 28, "\xff\xff"sv, "TN021: has a damaged directory: entry 0 of 2"},
      {kEntry, 0, "QK"sv, "TN021: has a damaged directory: entry 0 of 2"},
      {kLocal, 28, "\xff\xff"sv, "TN021: member 'a.npy' is not where the directory says"},
      {kEnd, 4, "\1"sv, "TN021: is one part of an archive in several files"},
      {kEnd, 10, "\3\0"sv, "TN021: is one part of an archive in several files"},
      {kEnd, 8, "\1\0\1\0"sv, "TN021: has a damaged directory: something follows its last entry"},
      {kEnd, 8, "\3\0\3\0"sv, "TN021: has a damaged directory: entry 2 of 3"},
      {kEnd, 16, "\xff\xff\xff\x7f"sv, "TN021: is not a complete zip archive: it may have been cut off while it was copied"},
      {kEnd, 20, "\1"sv, "TN021: is not a complete zip archive: it may have been cut off while it was copied"},
  };
  for (const Row& row : rows) {
    std::string bad = good;
    patch(bad, row.mark, row.offset, row.value);
    EXPECT_EQ(npz_error_of(bad), row.message);
  }
  EXPECT_EQ(npz_error_of(""), "TN021: is not a complete zip archive: it may have been cut off while it was copied");
}

TEST(Zip, OverlappingAndDoubledMembers) {
  EXPECT_EQ(npz_error_of(zipped({{"a.npy", "x"}, {"a.npy", "y"}})), "TN021: has two members 'a.npy'");
  // The second entry of the directory is made to point at the first member, whose name is made to fit.
  std::string bytes = zipped({{"a", "same"}, {"b", "same"}});
  std::size_t second = bytes.rfind(kEntry);
  bytes.replace(second + 42, 4, std::string(4, '\0'));
  bytes.replace(second + 46, 1, "a");
  EXPECT_EQ(npz_error_of(bytes), "TN021: has two members 'a'");
  // A member inside another: its whole local header lies in the data of a stored one.
  std::string inner = zipped({{"b", "hidden"}});
  inner.resize(inner.find(kEntry));
  bytes = zipped({{"a", inner}, {"b", "hidden"}});
  second = bytes.rfind(kEntry);
  bytes.replace(second + 42, 4, std::string("\x1f\0\0\0", 4));
  EXPECT_EQ(npz_error_of(bytes), "TN021: has members that overlap");
}

}  // namespace
}  // namespace buda
