// SPDX-License-Identifier: Apache-2.0
// The store of products: what it finds again, and what it does not.
#include <buda/base/text.hpp>
#include <buda/cache/store.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/temporary_directory.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

namespace buda::cache {
namespace {

namespace stdfs = std::filesystem;

const std::string kKey(64, 'a');

class Store : public testing::Test {
 protected:
  void SetUp() override {
    write("model", "a model");
    ASSERT_TRUE(make(store_));
  }
  std::string path(const std::string& name) const { return cat(folder_->path(), '/', name); }
  // A file as it was written a minute ago.
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(io::make_real_file_system()->write(path(name), text));
    stdfs::last_write_time(path(name), now() - std::chrono::minutes(1));
  }
  static stdfs::file_time_type now() { return stdfs::file_time_type::clock::now(); }
  void keep_image(const std::string& text, const std::string& key = kKey) {
    ASSERT_TRUE(keep(store_, key, {path("model")}, {{"image", io::Bytes(text)}}, now()));
  }
  std::string found(const std::string& key = kKey) {
    auto products = find(store_, key);
    return products ? std::string(products->at("image").view()) : "nothing";
  }
  // The one product that there is.
  std::string object() const { return stdfs::directory_iterator(store_ + "/objects")->path(); }

  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  Result<io::TemporaryDirectory> folder_ = io::TemporaryDirectory::make("/tmp", "buda-");
  std::string store_ = path("store");
};

TEST_F(Store, FindsWhatWasKept) {
  EXPECT_EQ(found(), "nothing");
  keep_image("an image");
  EXPECT_EQ(found(), "an image");
  EXPECT_EQ(found(std::string(64, 'b')), "nothing");
  std::set<std::string> inputs;
  ASSERT_TRUE(find(store_, kKey, &inputs));
  EXPECT_EQ(inputs, std::set<std::string>{fs_->canonical(path("model"))});
}

TEST_F(Store, KnowsSeveralStatesOfAnInput) {
  keep_image("an image");
  write("model", "another model");
  EXPECT_EQ(found(), "nothing");
  keep_image("another image");
  EXPECT_EQ(found(), "another image");
  write("model", "a model");
  EXPECT_EQ(found(), "an image");
  stdfs::remove(path("model"));
  EXPECT_EQ(found(), "nothing");
}

TEST_F(Store, TakesNoDamagedProduct) {
  keep_image("an image");
  write("store/objects/" + stdfs::path(object()).filename().string(), "an imago");
  EXPECT_EQ(found(), "nothing");
  keep_image("an image");
  EXPECT_EQ(found(), "an image") << "it is written anew";
  stdfs::remove(object());
  EXPECT_EQ(found(), "nothing");
}

TEST_F(Store, TakesNoDamagedEntry) {
  for (const char* text : {"", "{", "[]", "{\"schema\": \"buda.cache/1\"}", "{\"schema\": \"buda.cache/2\", \"makings\": []}",
                           "{\"schema\": \"buda.cache/1\", \"makings\": [{\"inputs\": {}, \"products\": {\"image\": \"../../model\"}}]}"}) {
    write(cat("store/entries/", kKey, ".json"), text);
    EXPECT_EQ(found(), "nothing") << text;
  }
  keep_image("an image");
  EXPECT_EQ(found(), "an image");
}

TEST_F(Store, KeepsNothingWhereAnInputChangedMeanwhile) {
  const auto begun = now() - std::chrono::minutes(2);
  ASSERT_TRUE(keep(store_, kKey, {path("model")}, {{"image", io::Bytes(std::string("an image"))}}, begun));
  EXPECT_EQ(found(), "nothing");
}

TEST_F(Store, RemovesWhatWasUsedLongestAgo) {
  const std::vector<std::string> keys = {std::string(64, '0'), std::string(64, '1'), std::string(64, '2')};
  for (std::size_t i = 0; i < keys.size(); ++i) keep_image(std::string(100, static_cast<char>('a' + i)), keys[i]);
  int age = 9;
  for (const auto& object : stdfs::directory_iterator(store_ + "/objects")) stdfs::last_write_time(object, now() - std::chrono::hours(age--));
  EXPECT_EQ(found(keys[1]), std::string(100, 'b'));  // which makes it the latest
  auto gone = shrink(store_, 100);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->products, 2u);
  EXPECT_EQ(gone->entries, 2u);
  EXPECT_EQ(gone->bytes, 200u);
  EXPECT_EQ(found(keys[1]), std::string(100, 'b'));
  EXPECT_EQ(found(keys[0]), "nothing");
  auto size = measure(store_);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->entries, 1u);
  EXPECT_EQ(size->bytes, 100u);
}

TEST_F(Store, IsNoFolderOfOtherThings) {
  EXPECT_FALSE(make(folder_->path()));
  EXPECT_FALSE(make(path("model")));
  EXPECT_FALSE(measure(folder_->path()));
  EXPECT_FALSE(shrink(folder_->path(), 0));
  EXPECT_TRUE(fs_->exists(path("model")));
}

}  // namespace
}  // namespace buda::cache
