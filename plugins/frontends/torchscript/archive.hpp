// SPDX-License-Identifier: Apache-2.0
// A TorchScript archive: the zip file that torch.jit.save writes.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/plugin/model_source.hpp>

#include <map>
#include <string>
#include <string_view>

namespace buda::torchscript {

// Members by their path below the archive's own folder: "data.pkl", "data/0", "code/__torch__.py". Stored ones share the file's memory.
struct Archive {
  std::string file;  // for messages and origins, without folders
  std::map<std::string, io::Bytes> members;

  // Null where there is no such member.
  const io::Bytes* find(const std::string& path) const;
  Diagnostic error(std::string_view code, std::string message) const;
};

// An archive without code, as torch.save writes for state dictionaries, is refused.
Result<Archive> read_archive(const plugin::ModelSource& source);

// How sure one can be, from the first bytes of a file, that it is such an archive: its first member is one of those that PyTorch writes
// first.
bool begins_like_archive(std::string_view head);

}  // namespace buda::torchscript
