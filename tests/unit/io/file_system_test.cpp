// SPDX-License-Identifier: Apache-2.0
// The real and the in-memory file system, processes, temporary folders.
#include <buda/io/checksum.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/log_file.hpp>
#include <buda/io/mapped_memory.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace buda::io {
namespace {

namespace stdfs = std::filesystem;

class RealFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::make("/tmp", "buda-io-test-");
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TemporaryDirectory>(std::move(*made));
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  std::vector<std::string> names() { return *fs_->list(folder_->path()); }

  std::unique_ptr<TemporaryDirectory> folder_;
  std::unique_ptr<FileSystem> fs_ = make_real_file_system();
};

TEST_F(RealFiles, WritesAppearWholeOrNotAtAll) {
  ASSERT_TRUE(fs_->write(path("a"), "old"));
  {
    auto file = fs_->create(path("a"));
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write("new and longer"));
    EXPECT_EQ(fs_->read(path("a"))->view(), "old");
    EXPECT_EQ(names().size(), 2u);
  }  // never committed
  EXPECT_EQ(fs_->read(path("a"))->view(), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

// What the kind of a file was told by is still there for who reads it; a second look would wait for ever, or find nothing.
TEST_F(RealFiles, APipeCanBeReadTwice) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "once"; });
  auto first = fs_->read(pipe);
  writer.join();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->view(), "once");
  auto second = fs_->read(pipe);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->view(), "once");
}

TEST_F(RealFiles, ReadsSmallAndMappedFilesAlike) {
  for (std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{1} << 20}) {
    std::string content(size, 'x');
    std::string name = path(std::to_string(size));
    ASSERT_TRUE(fs_->write(name, content));
    EXPECT_EQ(fs_->read(name)->view(), content);
  }
}

TEST_F(RealFiles, WhatWasReadIsNotOverwritten) {
  ASSERT_TRUE(fs_->write(path("in"), "model"));
  ASSERT_TRUE(fs_->write(path("old"), "product"));
  std::filesystem::create_hard_link(path("in"), path("other-name"));
  ASSERT_TRUE(fs_->read(path("in")));
  for (const char* name : {"in", "other-name", "./in"}) {
    auto r = fs_->write(path(name), "product");
    ASSERT_FALSE(r) << name;
    EXPECT_EQ(r.failure().diagnostics()[0].code, "IO007");
  }
  EXPECT_EQ(fs_->read(path("in"))->view(), "model");
  EXPECT_TRUE(fs_->write(path("old"), "newer product"));
  EXPECT_TRUE(fs_->write(path("new"), "product"));
}

TEST_F(RealFiles, ReleasedMemoryComesBack) {
  std::string content;
  for (int i = 0; i < 40000; ++i) content += std::to_string(i);
  ASSERT_TRUE(fs_->write(path("large"), content));
  auto mapped = fs_->read(path("large"));
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->view(), content);
  release_mapped(mapped->view().substr(5, 100000));
  release_mapped(mapped->view());
  EXPECT_EQ(mapped->view(), content);
  // Memory of other kinds would be lost.
  release_mapped(content);
  EXPECT_EQ(mapped->view(), content);
}

TEST_F(RealFiles, MappedMemoryIsReadByParts) {
  std::string content(std::size_t{1} << 20, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 2654435761u >> 13);
  ASSERT_TRUE(fs_->write(path("large"), content));
  // With and without a descriptor that is kept.
  std::vector<Bytes> mapped;
  for (int i = 0; i < 40; ++i) mapped.push_back(*fs_->read(path("large")));
  for (std::string_view bytes : {mapped.front().view(), mapped.back().view(), std::string_view(content)})
    for (auto [offset, count] : std::vector<std::pair<std::size_t, std::size_t>>{{0, content.size()}, {4097, 700000}, {100, 20}, {5, 0}}) {
      std::string read;
      read_by_parts(bytes.substr(offset, count), [&](std::string_view part) { read += part; });
      EXPECT_EQ(read, content.substr(offset, count)) << offset;
    }
  mapped.clear();
  std::string read;
  read_by_parts(fs_->read(path("large"))->view(), [&](std::string_view part) { read += part; });
  EXPECT_EQ(read, content);
}

// The check values of the catalogue of parametrised CRC algorithms, and a file whose parts are summed one after the other.
TEST_F(RealFiles, Checksums) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xcbf43926u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32c(""), 0u);
  std::string content(300001, 'x');
  content[200000] = 'y';
  ASSERT_TRUE(fs_->write(path("large"), content));
  auto mapped = fs_->read(path("large"));
  ASSERT_TRUE(mapped);
  EXPECT_EQ(crc32(mapped->view()), crc32(content));
  EXPECT_EQ(crc32c(mapped->view()), crc32c(content));
  content[299999] = 'z';
  EXPECT_NE(crc32(mapped->view()), crc32(content));
  EXPECT_NE(crc32c(mapped->view()), crc32c(content));
}

TEST_F(RealFiles, AnUnchangedFileKeepsItsTime) {
  ASSERT_TRUE(fs_->write(path("a"), "same"));
  auto long_ago = stdfs::last_write_time(path("a")) - std::chrono::hours(1);
  stdfs::last_write_time(path("a"), long_ago);
  ASSERT_TRUE(fs_->write(path("a"), "same", WriteMode::if_changed));
  EXPECT_EQ(stdfs::last_write_time(path("a")), long_ago);
  ASSERT_TRUE(fs_->write(path("a"), "other", WriteMode::if_changed));
  EXPECT_NE(stdfs::last_write_time(path("a")), long_ago);
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(RealFiles, RefusalsNameThePath) {
  for (const std::string& bad : {path("missing"), folder_->path()}) {
    auto r = fs_->read(bad);
    ASSERT_FALSE(r);
    EXPECT_EQ(r.failure().diagnostics()[0].loc.file, bad);
  }
  EXPECT_FALSE(fs_->create(folder_->path()));
  EXPECT_FALSE(fs_->create(path("no/such/folder")));
  ASSERT_TRUE(fs_->write(path("file"), ""));
  EXPECT_FALSE(fs_->make_directories(path("file/below")));
  EXPECT_FALSE(fs_->list(path("file")));
  EXPECT_TRUE(fs_->make_directories(path("d/e")));
  EXPECT_TRUE(fs_->make_directories(path("d/e")));
}

TEST_F(RealFiles, AFullDiskIsAnError) {
  auto r = fs_->write("/dev/full", "x");
  ASSERT_FALSE(r);
  EXPECT_NE(r.failure().diagnostics()[0].message.find("No space left"), std::string::npos);
}

TEST_F(RealFiles, DevicesAreWrittenInPlaceAndLinksStayLinks) {
  EXPECT_TRUE(fs_->write("/dev/null", "x"));
  EXPECT_TRUE(stdfs::is_character_file("/dev/null"));
  stdfs::create_symlink("target", path("link"));
  ASSERT_TRUE(fs_->write(path("link"), "through"));
  EXPECT_TRUE(stdfs::is_symlink(path("link")));
  EXPECT_EQ(fs_->read(path("target"))->view(), "through");
}

TEST_F(RealFiles, RemembersWhatWasRead) {
  ASSERT_TRUE(fs_->write(path("a"), ""));
  static_cast<void>(fs_->read(path("a")));
  EXPECT_EQ(fs_->files_read(), std::set<std::string>{path("a")});
}

TEST_F(RealFiles, ALogGrowsInItsPlace) {
  const std::string name = path("l.jsonl");
  ASSERT_TRUE(fs_->write(name, "of an earlier run"));
  auto log = create_log(*fs_, name);
  ASSERT_TRUE(log);
  ASSERT_TRUE((*log)->write("one\n"));
  EXPECT_EQ(fs_->read(name)->view(), "one\n");
  ASSERT_TRUE((*log)->write("two\n"));
  ASSERT_TRUE((*log)->commit());
  EXPECT_EQ(fs_->read(name)->view(), "one\ntwo\n");
  EXPECT_FALSE(create_log(*fs_, name)) << "it was read";
  EXPECT_FALSE(create_log(*fs_, path("no/l.jsonl")));
}

TEST_F(RealFiles, TemporaryFoldersGoAwayWithTheirContent) {
  std::string name;
  {
    auto made = TemporaryDirectory::make(folder_->path(), "t-");
    ASSERT_TRUE(made);
    name = made->path();
    ASSERT_TRUE(fs_->write(name + "/x", "y"));
  }
  EXPECT_FALSE(stdfs::exists(name));
  EXPECT_FALSE(TemporaryDirectory::make(path("missing"), "t-"));
}

TEST(Process, GivesTheExitCodeAndTheSignal) {
  EXPECT_EQ(run_process({"/bin/sh", "-c", "exit 3"})->exit_code, 3);
  auto killed = run_process({"/bin/sh", "-c", "kill -9 $$"});
  EXPECT_EQ(killed->signal, 9);
  EXPECT_EQ(killed->exit_code, 137);
  EXPECT_FALSE(run_process({"/no/such/program"}));
}

TEST(Process, EndsAfterALimitWithAllThatItStarted) {
  const auto slow = run_process({"/bin/sh", "-c", "sleep 60 & wait"}, std::chrono::milliseconds(50));
  ASSERT_TRUE(slow.ok());
  EXPECT_TRUE(slow->timed_out);
  const auto fast = run_process({"/bin/sh", "-c", "exit 3"}, std::chrono::seconds(60));
  ASSERT_TRUE(fast.ok());
  EXPECT_FALSE(fast->timed_out);
  EXPECT_EQ(fast->exit_code, 3);
}

TEST(Process, ShownCommandsDoNotSteerATerminal) {
  EXPECT_EQ(shell_line({"a\x1b[2Jb", "one\ntwo", "it's\x07", "\xc2\x9b", "\xff"}),
            "$'a\\033[2Jb' $'one\\012two' $'it\\'s\\007' $'\\302\\233' $'\\377'");
  EXPECT_EQ(shell_line({"é"}), "'é'");
}
TEST(Process, ShownCommandsSurviveAShell) { EXPECT_EQ(shell_line({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''"); }

TEST(MemoryFiles, BehavesLikeTheRealOne) {
  MemoryFileSystem fs;
  fs.put("d/a", "1");
  EXPECT_TRUE(fs.is_directory("d"));
  EXPECT_FALSE(fs.read("d"));
  EXPECT_FALSE(fs.read("missing"));
  ASSERT_TRUE(fs.write("d/b", "2"));
  EXPECT_EQ(*fs.list("d"), (std::vector<std::string>{"a", "b"}));
  {
    auto file = fs.create("d/c", WriteMode::always);
    ASSERT_TRUE((*file)->write("x"));
  }
  EXPECT_FALSE(fs.exists("d/c"));
}

TEST_F(RealFiles, MissingFilesHaveNearNames) {
  ASSERT_TRUE(fs_->write(path("digits.onnx"), ""));
  ASSERT_TRUE(fs_->make_directories(path("digits.onn")));
  const auto hint = [&](const std::string& name) { return fs_->read(path(name)).failure().diagnostics().front().hint; };
  EXPECT_EQ(hint("digts.onnx"), "did you mean '" + path("digits.onnx") + "'?");
  EXPECT_EQ(hint("digits.onn.old"), "did you mean '" + path("digits.onnx") + "'?");
  EXPECT_EQ(hint("another"), "");
  EXPECT_EQ(hint("nowhere/digits.onnx"), "there is no folder '" + path("nowhere") + "'");
  EXPECT_EQ(fs_->read(path("digits.onn")).failure().diagnostics().front().message, "is a directory; a file is expected");
  MemoryFileSystem memory;
  memory.put("d/digits.onnx", "");
  EXPECT_EQ(memory.read("d/digit.onnx").failure().diagnostics().front().hint, "did you mean 'd/digits.onnx'?");
}

}  // namespace
}  // namespace buda::io
