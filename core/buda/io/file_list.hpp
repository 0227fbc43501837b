// SPDX-License-Identifier: Apache-2.0
// The list of a product's files in its folder. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/folder_product.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace buda::io {

struct FileList {
  bool whole = false;  // not while files are moved
  std::set<std::string> files;
};

std::string file_list_text(const FileList& list);

// Nothing where the text is no list. Names that lead out of the folder are left out, since files are removed by them.
std::optional<FileList> parse_file_list(std::string_view text);

// A path in a folder: without "..", and not absolute.
bool stays_inside(const std::string& name);

}  // namespace buda::io
