// SPDX-License-Identifier: Apache-2.0
// The part of Python's pickle format that TorchScript archives use, as a value. Nothing is ever executed: only the names that TorchScript
// writes are known, and all others are refused.
#pragma once

#include "archive.hpp"

#include <buda/tensor/dtype.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace buda::torchscript {

// Elements in a member of the archive.
struct Storage {
  DType dtype = DType::f32;
  std::string unreadable;  // where the elements are of a type that is not supported: its name
  std::string key;
  bool complex = false;  // elements are pairs of numbers of this type
};

struct Pickled {
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, tuple, list, dictionary, object, name, storage, tensor, device };
  Kind kind = Kind::none;
  bool boolean = false;
  std::int64_t integer = 0;  // or of a tensor: where in the storage it begins
  double real = 0;
  std::string text;             // or of an object: its class; of a name: that with its module
  std::vector<Pickled*> items;  // of a dictionary and an object's state: key, value, key, value, …
  Storage storage;              // of a tensor, too
  std::vector<std::int64_t> sizes, strides;
};

// Owns what its root refers to. Values may be referred to from several places, and from within themselves.
struct PickleFile {
  std::deque<Pickled> values;
  Pickled* root = nullptr;
};

// `member` is the file's name in the archive, for messages.
Result<PickleFile> read_pickle(const Archive& archive, const std::string& member);

}  // namespace buda::torchscript
