// SPDX-License-Identifier: Apache-2.0
// Reading by content, writing by ending, and files that were damaged on the way.
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include "numpy_files.hpp"

#include <buda/io/memory_file_system.hpp>

#include <gtest/gtest.h>

namespace buda {
namespace {

NamedTensors some() {
  return {{"x", Tensor(Shape{2, 3}, std::vector<float>{1.5f, -2, 3, 4, 5, 6.25f})},
          {"label", Tensor(Shape{2}, std::vector<std::uint8_t>{3, 1})}};
}
NamedTensors one() { return {{"one", some().at("x")}}; }

std::string error_of(const Failure& failure) {
  const Diagnostic& d = failure.diagnostics().front();
  return d.loc.file + ": " + d.message + " [" + d.code + "]" + (d.hint.empty() ? "" : " hint: " + d.hint);
}

TEST(TensorFile, EveryFormatRoundTrips) {
  for (const char* path : {"dir/one.npy", "one.npz", "one.safetensors"}) {
    io::MemoryFileSystem fs;
    ASSERT_TRUE(write_tensors(fs, path, one()));
    auto back = read_tensors(fs, path);
    ASSERT_TRUE(back) << error_of(back.failure());
    EXPECT_EQ(*back, one()) << path;
    EXPECT_EQ(fs.files_read().count(path), 1u) << "it belongs into depfiles";
  }
  for (const char* path : {"a.npz", "a.safetensors"}) {
    io::MemoryFileSystem fs;
    for (const NamedTensors& tensors : {some(), NamedTensors{}}) {
      ASSERT_TRUE(write_tensors(fs, path, tensors));
      EXPECT_EQ(*read_tensors(fs, path), tensors);
    }
  }
}

TEST(TensorFile, TheContentDecidesNotTheName) {
  io::MemoryFileSystem fs;
  fs.put("a.txt", numpy_files::bytes(numpy_files::kFloats));
  fs.put("b.npy", numpy_files::bytes(numpy_files::kDeflated));
  ASSERT_TRUE(write_tensors(fs, "c.safetensors", some()));
  fs.put("c.npz", std::string(fs.find("c.safetensors")->view()));
  EXPECT_EQ(read_tensors(fs, "a.txt")->begin()->first, "a");
  EXPECT_EQ(*read_tensors(fs, "b.npy"), some());
  EXPECT_EQ(*read_tensors(fs, "c.npz"), some());
}

TEST(TensorFile, NamesOfSingleTensors) {
  io::Bytes bytes(numpy_files::bytes(numpy_files::kScalar));
  auto name = [&](const char* path) { return parse_tensors(bytes, path)->begin()->first; };
  EXPECT_EQ(name("dir.d/input.0.npy"), "input.0");
  EXPECT_EQ(name("plain"), "plain");
  EXPECT_EQ(name("dir/.hidden"), ".hidden");
  EXPECT_EQ(name("-"), "stdin");
}

TEST(TensorFile, NotTensors) {
  io::MemoryFileSystem fs;
  fs.put("empty.npy", "");
  fs.put("text.npz", "hello world, this is text");
  fs.put("short.safetensors", "abc");
  EXPECT_EQ(error_of(read_tensors(fs, "empty.npy").failure()),
            "empty.npy: is not a file of tensors (.npy, .npz, safetensors or .pb): it is empty [TN024]");
  EXPECT_EQ(error_of(read_tensors(fs, "text.npz").failure()),
            "text.npz: is not a file of tensors (.npy, .npz, safetensors or .pb): its first bytes match none of these formats [TN024] hint: NumPy "
            "writes one: numpy.savez('FILE.npz', NAME=array)");
  EXPECT_EQ(error_of(read_tensors(fs, "short.safetensors").failure()),
            "short.safetensors: is too short for a safetensors file: 3 bytes [TN023]");
  EXPECT_FALSE(read_tensors(fs, "missing.npy"));
}

TEST(TensorFile, WhatCannotBeWrittenLeavesNothing) {
  io::MemoryFileSystem fs;
  EXPECT_EQ(error_of(write_tensors(fs, "a.npy", some()).failure()),
            "a.npy: an .npy file holds one tensor, not 2 [TN022] hint: name the file .npz or .safetensors");
  EXPECT_EQ(
      error_of(write_tensors(fs, "a.txt", some()).failure()),
      "a.txt: tensors can be written to .npy, .npz, .safetensors and .pb files only [TN022] hint: give the file one of these endings");
  EXPECT_EQ(error_of(write_tensors(fs, "a.safetensors", {{"__metadata__", Tensor()}}).failure()),
            "a.safetensors: a tensor in a safetensors file cannot be named '__metadata__' [TN022]");
  EXPECT_TRUE(fs.files().empty());
}

// Small files in every format, the damage to which is tried everywhere.
std::map<std::string, std::string> small_files() {
  std::map<std::string, std::string> files;
  io::MemoryFileSystem fs;
  EXPECT_TRUE(write_tensors(fs, "ours.npy", one()));
  EXPECT_TRUE(write_tensors(fs, "ours.npz", some()));
  EXPECT_TRUE(write_tensors(fs, "ours.safetensors", some()));
  for (const auto& [path, bytes] : fs.files()) files[path] = std::string(bytes.view());
  files["fortran.npy"] = numpy_files::bytes(numpy_files::kCubeFortran);
  files["version3.npy"] = numpy_files::bytes(numpy_files::kFloatsVersion3);
  files["stored.npz"] = numpy_files::bytes(numpy_files::kStored);
  files["deflated.npz"] = numpy_files::bytes(numpy_files::kDeflated);
  return files;
}

// What a diagnosis must have; and tensors that were read must be readable.
void expect_sound(const Result<NamedTensors>& result, const std::string& what) {
  if (!result) {
    ASSERT_FALSE(result.failure().empty()) << what;
    for (const Diagnostic& d : result.failure().diagnostics()) {
      ASSERT_FALSE(d.message.empty() || d.code.empty()) << what;
      ASSERT_EQ(d.fault, Fault::input) << what;
    }
    return;
  }
  for (const auto& [name, tensor] : *result) {
    ASSERT_EQ(tensor.shape().volume(), static_cast<std::int64_t>(tensor.size())) << what;
    ASSERT_EQ(tensor.to_f32().size(), tensor.size()) << what;
  }
}

TEST(TensorFile, CutAtEveryByte) {
  for (const auto& [path, bytes] : small_files()) {
    ASSERT_TRUE(parse_tensors(io::Bytes(bytes), path));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      auto result = parse_tensors(io::Bytes(bytes.substr(0, size)), path);
      ASSERT_FALSE(result) << path << " cut to " << size;
      expect_sound(result, path);
    }
  }
}

TEST(TensorFile, EveryByteChanged) {
  for (const auto& [path, bytes] : small_files()) {
    auto original = parse_tensors(io::Bytes(bytes), path);
    ASSERT_TRUE(original);
    bool checked = path.ends_with(".npz");
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (int change : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        std::string bad = bytes;
        bad[at] = static_cast<char>(bad[at] ^ change);
        auto result = parse_tensors(io::Bytes(bad), path);
        expect_sound(result, path + " at " + std::to_string(at));
        // A zip archive has checksums and says most things twice: a change is seen or does not matter.
        if (checked && result) {
          ASSERT_EQ(*result, *original) << path << " at " << at << " ^ " << change;
        }
      }
  }
}

TEST(TensorFile, BytesAddedAtTheEnd) {
  for (const auto& [path, bytes] : small_files()) EXPECT_FALSE(parse_tensors(io::Bytes(bytes + "x"), path)) << path;
}

}  // namespace
}  // namespace buda
