// SPDX-License-Identifier: Apache-2.0
// Products that are folders, what a killed process leaves, and the list of files.
#include <buda/io/folder_product.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/io/temporary_directory.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace buda::io {
namespace {

namespace stdfs = std::filesystem;

using Files = std::map<std::string, std::string>;

class Folders : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::make("/tmp", "buda-folder-test-");
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TemporaryDirectory>(std::move(*made));
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }

  Result<void> put(const Files& files, FolderOptions options = {}) {
    const auto fs = make_real_file_system();
    BUDA_ASSIGN(auto folder, FolderProduct::begin(*fs, path("out"), std::move(options)));
    for (const auto& [name, content] : files) BUDA_TRY(folder->write(name, content));
    return folder->commit();
  }
  void put_by_hand(const std::string& name, const std::string& content) {
    stdfs::create_directories(stdfs::path(path(name)).parent_path());
    std::ofstream(path(name)) << content;
  }
  // What is in the folder, without the list.
  Files found() const {
    Files out;
    for (const auto& entry : stdfs::recursive_directory_iterator(path("out"))) {
      const std::string name = stdfs::relative(entry.path(), path("out")).string();
      if (!entry.is_regular_file() || name == kFileList) continue;
      std::ifstream file(entry.path());
      out[name] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return out;
  }
  std::vector<std::string> beside() const { return *make_real_file_system()->list(folder_->path()); }
  bool is_whole() const { return require_whole(*make_real_file_system(), path("out")).ok(); }

  std::unique_ptr<TemporaryDirectory> folder_;
};

TEST_F(Folders, AppearWholeOrNotAtAll) {
  const auto fs = make_real_file_system();
  {
    auto folder = FolderProduct::begin(*fs, path("out"));
    ASSERT_TRUE(folder);
    ASSERT_TRUE((*folder)->write("a/b/c", "text"));
    EXPECT_FALSE(fs->exists(path("out")));
  }  // never committed
  EXPECT_TRUE(beside().empty());
  ASSERT_TRUE(put({{"a/b/c", "text"}, {"d", ""}}));
  EXPECT_EQ(found(), (Files{{"a/b/c", "text"}, {"d", ""}}));
  EXPECT_EQ(beside(), std::vector<std::string>{"out"});
  EXPECT_TRUE(is_whole());
}

TEST_F(Folders, OldFilesGoAndThoseOfOthersStay) {
  ASSERT_TRUE(put({{"a", "1"}, {"old", "1"}, {"deep/er/old", "1"}, {"was-a-file", "1"}}));
  put_by_hand("out/mine", "mine");
  put_by_hand("out/deep/mine", "mine");
  ASSERT_TRUE(put({{"a", "2"}, {"new", "2"}, {"was-a-file/now-a-folder", "2"}}));
  EXPECT_EQ(found(), (Files{{"a", "2"}, {"deep/mine", "mine"}, {"mine", "mine"}, {"new", "2"}, {"was-a-file/now-a-folder", "2"}}));
  EXPECT_FALSE(stdfs::exists(path("out/deep/er")));
  EXPECT_EQ(beside(), std::vector<std::string>{"out"});
}

TEST_F(Folders, NothingChangesWithoutCommit) {
  ASSERT_TRUE(put({{"a", "1"}, {"b", "1"}}));
  const auto fs = make_real_file_system();
  {
    auto folder = FolderProduct::begin(*fs, path("out"));
    ASSERT_TRUE((*folder)->write("a", "2"));
    auto half = (*folder)->create("b");
    ASSERT_TRUE((*half)->write("2"));
  }
  EXPECT_EQ(found(), (Files{{"a", "1"}, {"b", "1"}}));
  EXPECT_TRUE(is_whole());
}

TEST_F(Folders, AFolderInTheWayIsRefusedBeforeAnythingIsTouched) {
  ASSERT_TRUE(put({{"a", "1"}, {"b", "1"}}));
  put_by_hand("out/c/mine", "mine");
  const auto refused = put({{"a", "2"}, {"c", "2"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().diagnostics().front().code, "IO002");
  EXPECT_EQ(found(), (Files{{"a", "1"}, {"b", "1"}, {"c/mine", "mine"}}));
  EXPECT_TRUE(is_whole());
  put_by_hand("out/d", "mine");
  EXPECT_FALSE(put({{"a", "2"}, {"d/e", "2"}}));
  EXPECT_EQ(found()["a"], "1");
}

TEST_F(Folders, TryingLeavesNothing) {
  const auto fs = make_real_file_system();
  EXPECT_TRUE(FolderProduct::try_begin(*fs, path("out")));
  EXPECT_TRUE(FolderProduct::try_begin(*fs, path("out/in/deep")));
  EXPECT_TRUE(beside().empty());
  ASSERT_TRUE(put({{"a", "1"}}));
  EXPECT_TRUE(FolderProduct::try_begin(*fs, path("out")));
  EXPECT_EQ(found(), (Files{{"a", "1"}}));
  EXPECT_TRUE(is_whole());
  for (const char* name : {"out/a", "out/a/b", "out/a/b/c"}) {
    const auto tried = FolderProduct::try_begin(*fs, path(name));
    ASSERT_FALSE(tried) << name;
    EXPECT_EQ(tried.failure().diagnostics().front().code, "IO003");
    EXPECT_NE(tried.failure().diagnostics().front().message.find("file"), std::string::npos);
  }
}

TEST_F(Folders, AddedFilesLeaveOlderOnes) {
  ASSERT_TRUE(put({{"a", "1"}}, {.entry = "", .adds = true}));
  ASSERT_TRUE(put({{"b", "2"}}, {.entry = "", .adds = true}));
  EXPECT_EQ(found(), (Files{{"a", "1"}, {"b", "2"}}));
}

TEST_F(Folders, UnchangedFilesKeepTheirTime) {
  const FolderOptions options{.entry = "a", .adds = false, .mode = WriteMode::if_changed};
  ASSERT_TRUE(put({{"a", "1"}, {"b", "1"}}, options));
  const auto old = stdfs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {"out/a", "out/b"}) stdfs::last_write_time(path(name), old);
  ASSERT_TRUE(put({{"a", "1"}, {"b", "2"}}, options));
  EXPECT_EQ(stdfs::last_write_time(path("out/a")), old);
  EXPECT_GT(stdfs::last_write_time(path("out/b")), old);
  EXPECT_EQ(found(), (Files{{"a", "1"}, {"b", "2"}}));
}

TEST_F(Folders, AListIsNoWayOutOfTheFolder) {
  put_by_hand("mine", "mine");
  put_by_hand("elsewhere/mine", "mine");
  ASSERT_TRUE(put({{"a", "1"}}));
  stdfs::create_directory_symlink(path("elsewhere"), path("out/link"));
  put_by_hand("out/.openbuda-files.json", R"({"whole": true, "files": ["../mine", "link/mine", "/etc/hostname", "a/../../mine", "", 7]})");
  ASSERT_TRUE(put({{"a", "2"}}));
  EXPECT_TRUE(stdfs::exists(path("mine")));
  EXPECT_TRUE(stdfs::exists(path("elsewhere/mine")));
  const auto fs = make_real_file_system();
  auto folder = FolderProduct::begin(*fs, path("out"));
  for (const char* name : {"../x", "/tmp/x", "a//b", "", "."}) EXPECT_FALSE((*folder)->create(name)) << name;
}

TEST_F(Folders, InputsAreNotReplaced) {
  ASSERT_TRUE(put({{"a", "1"}}));
  const auto fs = make_real_file_system();
  ASSERT_TRUE(fs->read(path("out/a")));
  auto folder = FolderProduct::begin(*fs, path("out"));
  const auto file = (*folder)->create("a");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.failure().diagnostics().front().code, "IO007");
}

TEST_F(Folders, LinksLeadToTheFolder) {
  stdfs::create_directory(path("real"));
  stdfs::create_directory_symlink(path("real"), path("out"));
  ASSERT_TRUE(put({{"a", "1"}}));
  EXPECT_TRUE(stdfs::is_symlink(path("out")));
  EXPECT_TRUE(stdfs::exists(path("real/a")));
}

// Where it is killed after so many files were moved: the list says so, and the next product clears away.
TEST_F(Folders, InterruptionsAreSeenAndMended) {
  ASSERT_TRUE(put({{"a", "1"}, {"b", "1"}, {"old", "1"}}));
  put_by_hand("out/.openbuda-files.json", R"({"whole": false, "files": ["a", "b", "c", "old"]})");
  put_by_hand("out/c", "2");
  const auto whole = require_whole(*make_real_file_system(), path("out"));
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.failure().diagnostics().front().code, "IO008");
  ASSERT_TRUE(put({{"a", "3"}}));
  EXPECT_EQ(found(), (Files{{"a", "3"}}));
  EXPECT_TRUE(is_whole());
  put_by_hand("out/.openbuda-files.json", "damaged");
  EXPECT_FALSE(is_whole());
}

// SIGKILL at any time: the folder has the files of one generation, or it is seen that it has not; the next product mends it.
TEST_F(Folders, KilledAtAnyTime) {
  constexpr int kFiles = 40, kKills = 20;
  const auto generation = [&](int number) {
    Files out;
    for (int i = 0; i < kFiles; ++i) out["part/" + std::to_string(i)] = std::to_string(number);
    out["only-of-" + std::to_string(number % 2)] = std::to_string(number);
    return out;
  };
  ASSERT_TRUE(put(generation(0), {.entry = "part/7", .adds = false}));
  put_by_hand("out/mine", "mine");
  int seen = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int number = 1;; ++number)
        if (!put(generation(number), {.entry = "part/7", .adds = false})) ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(2000 + 997 * kill % 20000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    Files files = found();
    EXPECT_EQ(files["mine"], "mine");
    files.erase("mine");
    // The list itself may have been about to be written: what is left of that the next product clears away.
    std::erase_if(files, [](const auto& file) { return file.first.starts_with(".openbuda-files.json.tmp-"); });
    if (is_whole()) {
      EXPECT_EQ(files, generation(std::stoi(files["part/7"])));
    } else {
      ++seen;
    }
    ASSERT_TRUE(put(generation(0), {.entry = "part/7", .adds = false}));
    files = found();
    EXPECT_EQ(files.erase("mine"), 1u);
    EXPECT_EQ(files, generation(0));
    EXPECT_TRUE(is_whole());
    EXPECT_EQ(beside(), std::vector<std::string>{"out"});
  }
  RecordProperty("interrupted", seen);
}

// What a process that is killed leaves goes when the product is made again; what a living one writes stays.
TEST_F(Folders, LeftOversOfKilledProcessesGo) {
  const auto begin_and = [&](auto what) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto fs = make_real_file_system();
      auto folder = FolderProduct::begin(*fs, path("out"));
      auto file = fs->create(path("file"));
      if (!folder || !(*folder)->write("a/b", "text") || !file) ::_exit(1);
      what();
      ::_exit(0);  // without destructors
    }
    return child;
  };
  int status = 0;
  ::waitpid(begin_and([] {}), &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(beside().size(), 2u);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t living = begin_and([&] {
    (void)!::write(ready[1], "x", 1);
    ::pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(beside().size(), 2u);  // its own
  put_by_hand("file.tmp-notes", "mine");
  put_by_hand("file.tmp-1-", "mine");
  ASSERT_TRUE(make_real_file_system()->write(path("file"), "text"));
  ASSERT_TRUE(put({{"a", "1"}}));
  EXPECT_EQ(beside().size(), 6u);  // both products, what is mine, what is at work
  ::kill(living, SIGKILL);
  ::waitpid(living, &status, 0);
  ASSERT_TRUE(make_real_file_system()->write(path("file"), "text"));
  ASSERT_TRUE(put({{"a", "1"}}));
  EXPECT_EQ(beside(), (std::vector<std::string>{"file", "file.tmp-1-", "file.tmp-notes", "out"}));
}

TEST_F(Folders, TemporaryFoldersOfKilledProcessesGo) {
  const auto beside_after_next = [&] {
    const auto next = TemporaryDirectory::make(folder_->path(), "buda-");
    return beside().size() - 1;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    auto made = TemporaryDirectory::make(folder_->path(), "buda-");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(beside().size(), 1u);
  put_by_hand("buda-notes/mine", "mine");
  put_by_hand("buda-1x-abcdef/mine", "mine");
  put_by_hand("other-99999999-abcdef/mine", "mine");
  const auto living = TemporaryDirectory::make(folder_->path(), "buda-");
  ASSERT_TRUE(living);
  EXPECT_EQ(beside().size(), 4u);
  EXPECT_EQ(beside_after_next(), 4u);
}

TEST_F(Folders, SignalsLeaveNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto fs = make_real_file_system();
    auto folder = FolderProduct::begin(*fs, path("out"));
    for (int i = 0; i < 200; ++i)
      if (!(*folder)->write("a/b/" + std::to_string(i), "text")) ::_exit(1);
    remove_temporary_files();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(beside().empty());
}

TEST_F(Folders, AFolderAboveThatIsClosedIsNoObstacle) {
  if (::geteuid() == 0) GTEST_SKIP() << "no folder is closed to root";
  stdfs::create_directory(path("out"));
  ::chmod(folder_->path().c_str(), 0500);
  EXPECT_TRUE(put({{"a", "1"}}));
  ::chmod(folder_->path().c_str(), 0700);
  EXPECT_EQ(found(), (Files{{"a", "1"}}));
}

TEST(GatheredFolders, AreWrittenByCommit) {
  MemoryFileSystem fs;
  auto folder = FolderProduct::begin(fs, "out");
  ASSERT_TRUE((*folder)->write("a/b", "text"));
  EXPECT_EQ(fs.find("out/a/b"), nullptr);
  ASSERT_TRUE((*folder)->commit());
  ASSERT_NE(fs.find("out/a/b"), nullptr);
  EXPECT_EQ(fs.find("out/a/b")->view(), "text");
}

}  // namespace
}  // namespace buda::io
