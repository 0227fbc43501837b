// SPDX-License-Identifier: Apache-2.0
// Telling what is left over from what is at work.
#include <buda/io/left_over.hpp>

#include <buda/base/text.hpp>
#include <buda/io/descriptor.hpp>
#include <buda/io/remove_tree.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

namespace buda::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";

struct Temporary {
  std::string product;
  pid_t process = 0;
};

std::optional<Temporary> temporary(const std::string& name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string::npos || mark == 0) return std::nullopt;
  const std::string numbers = name.substr(mark + kMark.size());
  const std::size_t dash = numbers.find('-');
  if (dash == std::string::npos || numbers.find_first_not_of("0123456789-") != std::string::npos) return std::nullopt;
  const auto process = parse_int(numbers.substr(0, dash)), number = parse_int(numbers.substr(dash + 1));
  if (!process || !number || *process <= 0 || *process > INT32_MAX || *number < 0) return std::nullopt;
  return Temporary{name.substr(0, mark), static_cast<pid_t>(*process)};
}

// A process of another container or machine cannot be asked; its lock can be seen.
bool is_held(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

std::vector<std::string> temporaries_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (std::string name = it->path().filename().string(); temporary(name)) out.push_back(std::move(name));
  return out;
}

// The process in "PREFIX123-abcdef".
std::optional<pid_t> maker_of(const std::string& name, const std::string& prefix) {
  constexpr std::size_t kRandom = 7;  // "-abcdef"
  if (!name.starts_with(prefix) || name.size() <= prefix.size() + kRandom || name[name.size() - kRandom] != '-') return std::nullopt;
  const std::string number = name.substr(prefix.size(), name.size() - prefix.size() - kRandom);
  const auto process = parse_int(number);
  if (number.find_first_not_of("0123456789") != std::string::npos || !process || *process <= 0 || *process > INT32_MAX) return std::nullopt;
  return static_cast<pid_t>(*process);
}

bool is_own_folder(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

}  // namespace

void remove_left_over_folders(const std::string& parent, const std::string& prefix) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
    if (const auto process = maker_of(it->path().filename().string(), prefix); process && is_gone(*process)) found.push_back(it->path());
  for (const fs::path& path : found)
    if (is_own_folder(path.string()) && !is_held(path.string())) remove_tree(path.string());
}

void LeftOver::remove_of(const std::string& product) {
  const fs::path path(product);
  std::string folder = path.parent_path().string();
  if (folder.empty()) folder = ".";
  auto [names, is_new] = names_.try_emplace(folder);
  if (is_new) names->second = temporaries_in(folder);
  std::erase_if(names->second, [&](const std::string& name) {
    const auto found = temporary(name);
    if (found->product != path.filename().string()) return false;
    const std::string whole = cat(folder, '/', name);
    if (is_gone(found->process) && !is_held(whole)) remove_tree(whole);
    return true;
  });
}

}  // namespace buda::io
