// SPDX-License-Identifier: Apache-2.0
// Archives made by others, and by people who mean harm.
#include <buda/base/text.hpp>
#include <buda/image/archive.hpp>

#include <buda/base/rng.hpp>
#include <buda/io/memory_file_system.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace buda::image {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A ustar header written by hand, so that the reader is not tested against our own writer.
std::string ustar(const std::string& name, char type, const std::string& data, const std::string& link = "", long long stated_size = -1) {
  std::string header(512, '\0');
  auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  auto octal = [](long long value, int digits) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
    return std::string(text.data());
  };
  put(0, name);
  put(100, octal(0644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(stated_size >= 0 ? stated_size : static_cast<long long>(data.size()), 11));
  put(136, octal(0, 11));
  put(148, "        ");
  put(156, std::string(1, type));
  put(157, link);
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  std::string padding((512 - data.size() % 512) % 512, '\0');
  return header + data + padding;
}

const std::string kEnd(1024, '\0');

Result<Members> read(const std::string& bytes, const ArchiveLimits& limits = {}) { return read_archive(io::Bytes(bytes), "x.tti", limits); }

std::string error_of(const Result<Members>& result) {
  return result.ok() ? "(no error)"
                     : cat(result.failure().diagnostics().front().code, ": ", result.failure().diagnostics().front().message);
}

std::string zip(const std::vector<std::pair<std::string, std::string>>& files) {
  archive* a = archive_write_new();
  archive_write_set_format_zip(a);
  std::string out(1 << 20, '\0');
  std::size_t used = 0;
  archive_write_open_memory(a, out.data(), out.size(), &used);
  for (const auto& [name, data] : files) {
    archive_entry* e = archive_entry_new();
    archive_entry_set_pathname(e, name.c_str());
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, static_cast<la_int64_t>(data.size()));
    archive_write_header(a, e);
    archive_write_data(a, data.data(), data.size());
    archive_entry_free(e);
  }
  archive_write_close(a);
  archive_write_free(a);
  out.resize(used);
  return out;
}

std::string written(const Members& members) {
  io::MemoryFileSystem fs;
  auto out = fs.create("a", io::WriteMode::always);
  EXPECT_TRUE(write_archive(**out, members));
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("a")->view());
}

TEST(Archive, ReadsTarsOfOthersAndSharesTheirMemory) {
  io::Bytes bytes(ustar("./", '5', "") + ustar("./d/", '5', "") + ustar("./d/one", '0', "first") +
                  ustar("two", '0', std::string(700, 'x')) + kEnd);
  auto members = read_archive(bytes, "x.tar");
  ASSERT_TRUE(members) << error_of(members);
  ASSERT_EQ(members->size(), 2u);
  EXPECT_EQ(members->at("d/one").view(), "first");
  EXPECT_EQ(members->at("two").view(), std::string(700, 'x'));
  const char* data = members->at("two").data();
  EXPECT_TRUE(data > bytes.data() && data < bytes.data() + bytes.size());
}

TEST(Archive, ReadsZips) {
  auto members = read(zip({{"a/b", "text"}, {"c", std::string(100000, 'y')}}));
  ASSERT_TRUE(members) << error_of(members);
  EXPECT_EQ(members->at("a/b").view(), "text");
  EXPECT_EQ(members->at("c").view(), std::string(100000, 'y'));
}

TEST(Archive, RefusesNamesThatLeadElsewhere) {
  for (const char* name : {"../evil", "/etc/evil", "a/../../evil", "a//b", "a/./b", "a/..", "a\\b", "a\nb"}) {
    EXPECT_THAT(error_of(read(ustar(name, '0', "x") + kEnd)), AllOf(HasSubstr("IM004: "), HasSubstr("must be relative"))) << name;
  }
  EXPECT_THAT(error_of(read(zip({{"../evil", "x"}}))), AllOf(HasSubstr("IM004: "), HasSubstr("must be relative")));
}

TEST(Archive, RefusesLinksDevicesAndDoubles) {
  EXPECT_THAT(error_of(read(ustar("link", '2', "", "/etc/passwd") + kEnd)), AllOf(HasSubstr("IM004: "), HasSubstr("link or a device")));
  EXPECT_THAT(error_of(read(ustar("a", '0', "x") + ustar("hard", '1', "", "a") + kEnd)),
              AllOf(HasSubstr("IM004: "), HasSubstr("link or a device")));
  EXPECT_THAT(error_of(read(ustar("fifo", '6', "") + kEnd)), AllOf(HasSubstr("IM004: "), HasSubstr("link or a device")));
  EXPECT_THAT(error_of(read(ustar("a", '0', "x") + ustar("./a", '0', "y") + kEnd)), HasSubstr("occurs twice"));
}

TEST(Archive, RefusesWhatIsNoArchive) {
  EXPECT_THAT(error_of(read("")), HasSubstr("empty"));
  EXPECT_THAT(error_of(read("devices: {}\n")), HasSubstr("not a tar or zip"));
  Rng rng(7);
  std::string noise(1 << 20, '\0');
  for (char& c : noise) c = static_cast<char>(rng.next());
  EXPECT_THAT(error_of(read(noise)), HasSubstr("not a tar or zip"));
}

TEST(Archive, RefusesMembersThatUnpackToTooMuch) {
  std::string bomb = zip({{"zeros", std::string(200000, '\0')}});
  ArchiveLimits limits;
  limits.unpacked_bytes = 1000;
  limits.unpacked_ratio = 2;
  EXPECT_THAT(error_of(read(bomb, limits)), HasSubstr("IM003: the members unpack to more than"));
  EXPECT_TRUE(read(bomb));
  limits.most_members = 1;
  EXPECT_THAT(error_of(read(ustar("a", '0', "") + ustar("b", '0', "") + kEnd, limits)),
              HasSubstr("IM003: the archive has more than 1 members"));
  // A size of 8 GiB in the header of a small file.
  EXPECT_THAT(error_of(read(ustar("a", '0', "x", "", 077777777777LL) + kEnd)), HasSubstr("damaged"));
}

TEST(Archive, WritesTheSameBytesAndReadsThemBack) {
  Members members;
  members["b"] = io::Bytes(std::string("two"));
  members["a/one"] = io::Bytes(std::string(513, 'q'));
  members["empty"] = io::Bytes(std::string());
  members[std::string(150, 'n') + "/" + std::string(150, 'm')] = io::Bytes(std::string("long name"));
  members["\xc3\xa4.txt"] = io::Bytes(std::string("not ASCII"));
  std::string bytes = written(members);
  EXPECT_EQ(bytes, written(members));
  auto again = read(bytes);
  ASSERT_TRUE(again) << error_of(again);
  ASSERT_EQ(again->size(), members.size());
  for (const auto& [name, data] : members) EXPECT_EQ(again->at(name).view(), data.view()) << name;
}

TEST(Archive, RefusesToWriteUnsafeNames) {
  io::MemoryFileSystem fs;
  auto out = fs.create("a", io::WriteMode::always);
  EXPECT_FALSE(write_archive(**out, {{"../x", io::Bytes(std::string("y"))}}));
}

// A full disk: the failure of the output comes through, not one of libarchive's.
TEST(Archive, PassesOnFailuresOfTheOutput) {
  class Full final : public io::OutputFile {
    Result<void> write(std::string_view) override { return input_error("IO009", {"x.tti"}, "no space left on device"); }
    Result<void> commit() override { return success(); }
  } full;
  auto result = write_archive(full, {{"x", io::Bytes(std::string(1 << 20, 'x'))}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().diagnostics().front().code, "IO009");
}

}  // namespace
}  // namespace buda::image
