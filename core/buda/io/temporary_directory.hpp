// SPDX-License-Identifier: Apache-2.0
// A folder for intermediate files that goes away with its scope.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/descriptor.hpp>

#include <string>

namespace buda::io {

class TemporaryDirectory {
 public:
  // A new folder in `parent` (the system's place for temporary files), its name beginning with `prefix`. Those of processes that were
  // killed go.
  static Result<TemporaryDirectory> make(const std::string& parent, const std::string& prefix);
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)), held_(std::move(other.held_)) {
    other.path_.clear();
  }
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(held_, other.held_);
    return *this;
  }

  const std::string& path() const { return path_; }
  // It stays, for somebody to look into.
  void keep() { path_.clear(); }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
  Descriptor held_;
};

}  // namespace buda::io
