// SPDX-License-Identifier: Apache-2.0
// A path is compared with and without its links.
#include <buda/io/folder_files.hpp>

#include <buda/base/text.hpp>
#include <buda/io/real_file_system.hpp>

#include <filesystem>
#include <utility>

namespace buda::io {
namespace {

namespace stdfs = std::filesystem;

std::string absolute_path(const std::string& path) {
  std::error_code error;
  std::string out = stdfs::absolute(path, error).lexically_normal().string();
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || (path.starts_with(folder) && path[folder.size()] == '/');
}

// Of the machine's file system; in memory there is nothing else.
bool is_waited_for(const FileSystem& files, const std::string& path) {
  if (!is_real(files)) return false;
  std::error_code error;
  const stdfs::file_type type = stdfs::status(path, error).type();
  return type == stdfs::file_type::fifo || type == stdfs::file_type::character || type == stdfs::file_type::block ||
         type == stdfs::file_type::socket;
}

}  // namespace

FolderFiles::FolderFiles(FileSystem& all, std::string folder)
    : all_(all), folder_(absolute_path(folder)), canonical_(all.canonical(folder)) {}

bool FolderFiles::leads_out(const std::string& path) {
  return is_below(absolute_path(path), folder_) && !is_below(all_.canonical(path), canonical_);
}

Result<Bytes> FolderFiles::read(const std::string& path) {
  note_read(path);
  if (leads_out(path)) return input_error("IO013", {path}, cat("is a link that leads out of '", folder_, "', and is not followed"));
  if (is_waited_for(all_, path)) return input_error("IO013", {path}, "is not a regular file");
  return all_.read(path);
}

Result<std::vector<std::string>> FolderFiles::list(const std::string& directory) {
  if (leads_out(directory))
    return input_error("IO013", {directory}, cat("is a link that leads out of '", folder_, "', and is not followed"));
  return all_.list(directory);
}

FolderHost::FolderHost(Host& host, const std::string& folder) : Host(files_, sink_), host_(host), sink_(host), files_(host.fs(), folder) {
  threads = host.threads;
  seed = host.seed;
  share_dir = host.share_dir;
  write_mode = host.write_mode;
}

}  // namespace buda::io
