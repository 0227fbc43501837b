// SPDX-License-Identifier: Apache-2.0
// TensorFlow's "tensor bundle": a table of BundleEntryProto by name, and under the empty name a header.
#include "checkpoint.hpp"

#include "masked_crc.hpp"
#include "table.hpp"
#include "tensors.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdio>

namespace buda::tensorflow_frontend {
namespace {

constexpr std::int64_t kMaxShards = 99999;  // a file's name has five digits for it

Result<io::Bytes> read_inside(const std::string& path, const std::string& folder, Host& host) {
  if (!host.fs().canonical(path).starts_with(host.fs().canonical(folder) + "/"))
    return input_error("GF011", {path}, cat("lies outside the model's folder '", folder, "', which a link leads out of"));
  return host.fs().read(path);
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::string& prefix, const std::string& folder, Host& host) {
  Checkpoint out;
  out.prefix_ = prefix;
  out.folder_ = folder;
  out.host_ = &host;
  const std::string path = prefix + ".index";
  BUDA_ASSIGN(out.index_, read_inside(path, folder, host));
  auto entries = table_entries(out.index_.view());
  if (!entries) {
    for (auto& d : entries.failure().diagnostics()) d.loc = {path};
    return std::move(entries).failure();
  }
  out.entries_ = std::move(entries).value();
  format::BundleHeaderProto header;
  auto first = out.entries_.find("");
  if (first == out.entries_.end() || !header.ParseFromArray(first->second.data(), static_cast<int>(first->second.size())))
    return input_error("GF010", {path}, "has no header");
  if (header.endianness() != 0) return input_error("GF010", {path}, "has big-endian elements, which are not supported");
  out.shard_count_ = header.num_shards();
  if (out.shard_count_ < 1 || out.shard_count_ > kMaxShards)
    return input_error("GF010", {path}, cat("names ", out.shard_count_, " files of elements"));
  return out;
}

Result<io::Bytes> Checkpoint::shard(std::int64_t number) {
  char name[40];
  std::snprintf(name, sizeof name, ".data-%05d-of-%05d", static_cast<int>(number), static_cast<int>(shard_count_));
  const std::string path = prefix_ + name;
  if (auto known = shards_.find(path); known != shards_.end()) return known->second;
  if (unreadable_.count(path) != 0) return Failure(std::vector<Diagnostic>{});
  auto bytes = read_inside(path, folder_, *host_);
  if (bytes) {
    shards_[path] = *bytes;
  } else {
    unreadable_.insert(path);
  }
  return bytes;
}

Result<Tensor> Checkpoint::tensor(const std::string& key) {
  auto broken = [&](std::string_view what) { return input_error("GF012", {prefix_ + ".index"}, cat("variable '", key, "' ", what)); };
  auto found = entries_.find(key);
  if (found == entries_.end()) return broken("is not in the checkpoint");
  format::BundleEntryProto entry;
  if (!entry.ParseFromArray(found->second.data(), static_cast<int>(found->second.size()))) return broken("has an entry that is cut off");
  if (entry.slices_size() != 0) return broken("is stored in slices, which is not supported");
  auto dtype = dtype_of(entry.dtype());
  if (!dtype) return broken(cat("has elements of ", type_name(entry.dtype()), ", which are not supported"));
  if (entry.shard_id() < 0 || entry.shard_id() >= shard_count_)
    return broken(cat("is said to be in file ", entry.shard_id(), " of ", shard_count_));
  BUDA_ASSIGN(io::Bytes bytes, shard(entry.shard_id()));
  if (entry.offset() < 0 || entry.size() < 0 || static_cast<std::uint64_t>(entry.offset()) > bytes.size() ||
      static_cast<std::uint64_t>(entry.size()) > bytes.size() - static_cast<std::uint64_t>(entry.offset()))
    return broken(cat("lies outside its file, which has ", bytes.size(), " bytes"));
  bytes = bytes.slice(static_cast<std::size_t>(entry.offset()), static_cast<std::size_t>(entry.size()));
  if (masked_crc32c(bytes.view()) != entry.crc32c()) return broken("has a checksum that does not fit its bytes: the file is damaged");
  Shape shape;
  for (const auto& dim : entry.shape().dim()) shape.push_back(dim.size());
  auto tensor = Tensor::from_bytes(*dtype, shape, bytes);
  if (!tensor) return broken(cat("is ", type_name(entry.dtype()), ' ', shape.text(), " and has ", bytes.size(), " bytes"));
  return tensor;
}

}  // namespace buda::tensorflow_frontend
