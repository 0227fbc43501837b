// SPDX-License-Identifier: Apache-2.0
// Files of a store.
#include <buda/cache/store.hpp>

#include <buda/base/text.hpp>
#include <buda/cache/entry.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/json.hpp>
#include <buda/io/sha256.hpp>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <system_error>
#include <tuple>
#include <vector>

namespace buda::cache {
namespace {

namespace stdfs = std::filesystem;

// As the Cache Directory Tagging Specification has it.
constexpr std::string_view kTag = "Signature: 8a477f597d28d172789f06886806bc55\n# A store of OpenBuda: `buda cache clear` empties it.\n";
// What is kept of one key: models and device files go back and forth between a few states.
constexpr std::size_t kMaxBuilds = 8;

// A new one each time: a file system does not overwrite what was read through it, and entries are read, then written.
std::unique_ptr<io::FileSystem> disk() { return io::make_real_file_system(); }

std::string tag_path(const std::string& store) { return store + "/CACHEDIR.TAG"; }
std::string entry_path(const std::string& store, const std::string& key) { return cat(store, "/entries/", key, ".json"); }
std::string object_path(const std::string& store, const std::string& digest) { return cat(store, "/objects/", digest); }

bool is_store(const std::string& store) {
  auto tag = disk()->exists(tag_path(store)) ? disk()->read(tag_path(store)) : Result<io::Bytes>(io::Bytes());
  return tag && tag->view() == kTag;
}

Diagnostic no_store(const std::string& store) {
  Diagnostic d = input_error("CA001", {store}, "is not a store of products");
  d.hint = "name a folder that does not exist yet, is empty, or was made by --cache";
  return d;
}

Entry read_entry(const std::string& path) {
  if (!disk()->exists(path)) return {};
  auto bytes = disk()->read(path);
  if (!bytes) return {};
  auto node = io::parse_json(bytes->view(), path);
  if (!node) return {};
  auto entry = schema::read<Entry>(*node);
  return entry ? std::move(*entry) : Entry{};
}

bool holds(const std::string& path, const std::string& digest) {
  if (!disk()->exists(path) || disk()->is_directory(path)) return false;
  auto bytes = disk()->read(path);
  return bytes && io::sha256_hex(bytes->view()) == digest;
}

bool is_fresh(const Making& making) {
  return std::all_of(making.inputs.begin(), making.inputs.end(), [&](const auto& input) { return holds(input.first, input.second); });
}

// The time of a file is when it was last used: shrink() takes the oldest first.
void touch(const std::string& path) {
  std::error_code ignored;
  stdfs::last_write_time(path, stdfs::file_time_type::clock::now(), ignored);
}

// Not compared with their digests yet.
std::optional<Products> products_of(const std::string& store, const Making& making) {
  Products products;
  for (const auto& [name, digest] : making.products) {
    const std::string path = object_path(store, digest);
    if (!disk()->exists(path)) return std::nullopt;
    auto bytes = disk()->read(path);
    if (!bytes) return std::nullopt;
    products.emplace(name, *bytes);
  }
  return products;
}

bool are_sound(const Products& products, const Making& making) {
  return std::all_of(making.products.begin(), making.products.end(),
                     [&](const auto& made) { return io::sha256_hex(products.at(made.first).view()) == made.second; });
}

struct Object {
  std::string path;
  std::uint64_t bytes;
  stdfs::file_time_type used;
};

std::vector<Object> objects_of(const std::string& store) {
  std::vector<Object> out;
  auto names = disk()->list(store + "/objects");
  if (!names) return out;
  for (const auto& name : *names) {
    std::error_code error;
    const std::string path = object_path(store, name);
    const std::uint64_t bytes = stdfs::file_size(path, error);
    const auto used = error ? stdfs::file_time_type::min() : stdfs::last_write_time(path, error);
    if (!error) out.push_back({path, bytes, used});
  }
  return out;
}

}  // namespace

std::optional<Products> find(const std::string& store, const std::string& key, std::set<std::string>* inputs,
                             const std::function<void(const Products&)>& meanwhile) {
  if (!is_store(store)) return std::nullopt;
  for (const Making& making : read_entry(entry_path(store, key)).makings) {
    if (!is_fresh(making)) continue;
    auto products = products_of(store, making);
    if (!products) continue;
    auto sound = std::async(meanwhile ? std::launch::async : std::launch::deferred, [&] { return are_sound(*products, making); });
    if (meanwhile) meanwhile(*products);
    if (!sound.get()) continue;
    for (const auto& [name, digest] : making.products) touch(object_path(store, digest));
    if (inputs != nullptr)
      for (const auto& [path, digest] : making.inputs) inputs->insert(path);
    return products;
  }
  return std::nullopt;
}

Result<void> make(const std::string& store) {
  if (is_store(store)) return success();
  if (disk()->exists(store)) {
    if (!disk()->is_directory(store)) return no_store(store);
    BUDA_ASSIGN(auto names, disk()->list(store));
    if (!names.empty()) return no_store(store);
  }
  BUDA_TRY(disk()->make_directories(store + "/entries"));
  BUDA_TRY(disk()->make_directories(store + "/objects"));
  return disk()->write(tag_path(store), kTag);
}

Result<void> keep(const std::string& store, const std::string& key, const std::set<std::string>& inputs, const Products& products,
                  stdfs::file_time_type begun) {
  Making making;
  for (const auto& path : inputs) {
    std::error_code error;
    if (stdfs::last_write_time(path, error) >= begun || error) return success();
    BUDA_ASSIGN(auto bytes, disk()->read(path));
    making.inputs[disk()->canonical(path)] = io::sha256_hex(bytes.view());
  }
  for (const auto& [name, bytes] : products) {
    const std::string& digest = making.products[name] = io::sha256_hex(bytes.view());
    const std::string path = object_path(store, digest);
    if (!holds(path, digest)) BUDA_TRY(disk()->write(path, bytes.view()));
  }
  Entry entry = read_entry(entry_path(store, key));
  std::erase_if(entry.makings, [&](const Making& m) { return m.inputs == making.inputs; });
  entry.makings.insert(entry.makings.begin(), std::move(making));
  if (entry.makings.size() > kMaxBuilds) entry.makings.resize(kMaxBuilds);
  return disk()->write(entry_path(store, key), io::json_pretty(schema::write(entry)));
}

Result<Size> measure(const std::string& store) {
  if (!is_store(store)) return no_store(store);
  Size size;
  if (auto names = disk()->list(store + "/entries")) size.entries = names->size();
  for (const Object& object : objects_of(store)) {
    ++size.products;
    size.bytes += object.bytes;
  }
  return size;
}

Result<Size> shrink(const std::string& store, std::uint64_t most_bytes) {
  if (!is_store(store)) return no_store(store);
  std::vector<Object> objects = objects_of(store);
  std::sort(objects.begin(), objects.end(),
            [](const Object& a, const Object& b) { return std::tie(b.used, a.path) < std::tie(a.used, b.path); });
  Size gone;
  std::uint64_t kept = 0;
  std::error_code error;
  for (const Object& object : objects) {
    kept += object.bytes;
    if (kept <= most_bytes || !stdfs::remove(object.path, error)) continue;
    ++gone.products;
    gone.bytes += object.bytes;
  }
  // An entry is of use while one of its makings has all of its products.
  if (auto names = disk()->list(store + "/entries"))
    for (const auto& name : *names) {
      const std::string path = cat(store, "/entries/", name);
      const auto makings = read_entry(path).makings;
      const bool whole = std::any_of(makings.begin(), makings.end(), [&](const Making& m) {
        return std::all_of(m.products.begin(), m.products.end(),
                           [&](const auto& p) { return disk()->exists(object_path(store, p.second)); });
      });
      if (!whole && stdfs::remove(path, error)) ++gone.entries;
    }
  return gone;
}

}  // namespace buda::cache
