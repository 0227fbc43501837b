// SPDX-License-Identifier: Apache-2.0
// The list as JSON.
#include <buda/io/file_list.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/io/real_file_system.hpp>

#include <filesystem>

namespace buda::io {

std::string file_list_text(const FileList& list) {
  Node files = Node::list();
  for (const std::string& name : list.files) files.push(Node::string(name));
  return json_pretty(Node::map({{"whole", Node::boolean(list.whole)}, {"files", std::move(files)}}));
}

std::optional<FileList> parse_file_list(std::string_view text) {
  const auto node = parse_json(text, std::string(kFileList));
  if (!node) return std::nullopt;
  const Node* whole = node->find("whole");
  const Node* files = node->find("files");
  if (whole == nullptr || files == nullptr || !files->is_list()) return std::nullopt;
  const auto is_whole = whole->as_bool();
  if (!is_whole) return std::nullopt;
  FileList out{*is_whole, {}};
  for (const Node& item : files->items())
    if (const auto name = item.as_string(); name && stays_inside(*name)) out.files.insert(*name);
  return out;
}

bool stays_inside(const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos) return false;
  for (const std::string_view part : split(name, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

Result<void> require_whole(FileSystem& fs, const std::string& folder) {
  const std::string path = folder == "." ? std::string(kFileList) : cat(folder, '/', kFileList);
  if (!fs.exists(path)) return success();
  // No product depends on the list.
  const auto own = is_real(fs) ? make_real_file_system() : nullptr;
  BUDA_ASSIGN(const Bytes text, (own ? *own : fs).read(path));
  const auto list = parse_file_list(text.view());
  if (list && list->whole) return success();
  Diagnostic d = input_error("IO008", {folder}, "is not whole: the command that wrote it was ended while it did");
  d.hint = "run that command again";
  return d;
}

}  // namespace buda::io
