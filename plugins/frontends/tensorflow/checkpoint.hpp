// SPDX-License-Identifier: Apache-2.0
// The values of variables beside a SavedModel: an index, and files ("shards") with the elements.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/host.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace buda::tensorflow_frontend {

class Checkpoint {
 public:
  // `prefix` is the path without ".index" and ".data-00000-of-00001". Files that lie outside `folder` (through links) are refused.
  static Result<Checkpoint> open(const std::string& prefix, const std::string& folder, Host& host);

  bool has(const std::string& key) const { return entries_.count(key) != 0; }
  // The tensor of a key, whose checksum is verified; its elements are a part of the mapped file. An error says what is wrong, and of which
  // file.
  Result<Tensor> tensor(const std::string& key);
  const std::map<std::string, io::Bytes>& files() const { return shards_; }

 private:
  // A file that cannot be read is an error once, and a failure without a diagnostic from then on.
  Result<io::Bytes> shard(std::int64_t number);

  std::string prefix_, folder_;
  Host* host_ = nullptr;
  io::Bytes index_;
  std::map<std::string, std::string_view> entries_;
  std::int64_t shard_count_ = 0;
  std::map<std::string, io::Bytes> shards_;  // by path, those that were needed
  std::set<std::string> unreadable_;         // shards that were asked for
};

}  // namespace buda::tensorflow_frontend
