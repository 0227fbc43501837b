// SPDX-License-Identifier: Apache-2.0
// Gathering files beside a folder, and moving them into it.
//
// A folder that does not exist yet appears by one rename. In one that exists, files are replaced one by one, since a program may be at
// work in it; the list, which is replaced first, says until the end that the folder is not whole, and has the names of old and new files,
// so that the next product clears away what an interruption left.
#include <buda/io/folder_product.hpp>

#include <buda/base/text.hpp>
#include <buda/io/descriptor.hpp>
#include <buda/io/file_list.hpp>
#include <buda/io/left_over.hpp>
#include <buda/io/real_file_system.hpp>
#include <buda/io/remove_tree.hpp>
#include <buda/io/temporary_names.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>

namespace buda::io {
namespace {

namespace stdfs = std::filesystem;

// A file of the folder beside. It is whole where it is, so it needs no other name while it is written.
class GatheredFile final : public OutputFile {
 public:
  GatheredFile(Descriptor file, std::string path, std::string name, std::set<std::string>& written)
      : file_(std::move(file)), path_(std::move(path)), name_(std::move(name)), written_(written) {}
  Result<void> write(std::string_view data) override { return write_all(file_.get(), data, path_); }
  Result<void> commit() override {
    if (file_.close() != 0) return cannot("IO002", path_, "written", errno);
    written_.insert(name_);
    return success();
  }

 private:
  Descriptor file_;
  std::string path_, name_;
  std::set<std::string>& written_;
};

class RealFolder final : public FolderProduct {
 public:
  RealFolder(FileSystem& fs, std::string path, FolderOptions options)
      : fs_(fs), path_(std::move(path)), target_(fs.canonical(path_)), options_(std::move(options)) {}

  // What has been moved is not there any more.
  ~RealFolder() override {
    if (!beside_.empty()) remove_tree(beside_);
    for (const std::string& name : temporaries_) temporary_names().remove(name);
  }

  Result<void> begin() {
    if (fs_.exists(target_) && !fs_.is_directory(target_)) return cannot_make_folder(path_, ENOTDIR);
    const std::string parent = stdfs::path(target_).parent_path().string();
    if (!fs_.exists(target_)) BUDA_TRY(fs_.make_directories(parent));
    LeftOver().remove_of(target_);
    LeftOver().remove_of(inside(kInside));
    // The folder above may be another file system, or closed to this user.
    if (same_device(parent)) BUDA_TRY(make_beside(temporary_name(target_)));
    if (beside_.empty() && fs_.is_directory(target_)) BUDA_TRY(make_beside(temporary_name(inside(kInside))));
    if (beside_.empty()) return cannot("IO003", path_, "created", EACCES);
    return success();
  }

  Result<std::unique_ptr<OutputFile>> create(const std::string& name) override {
    const std::string shown = cat(path_, '/', name), path = cat(beside_, '/', name);
    if (!stays_inside(name)) return input_error("IO002", {shown}, "cannot be written: it lies outside of the folder");
    BUDA_TRY(require_not_read(fs_, inside(name)));
    BUDA_TRY(make_folders_of(name));
    if (!keep_in_mind(path)) return cannot("IO002", shown, "written", ENOMEM);
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) return cannot("IO002", shown, "written", errno);
    return std::unique_ptr<OutputFile>(new GatheredFile(std::move(file), shown, name, written_));
  }

  Result<void> commit() override {
    BUDA_TRY(put_list(beside_, {true, written_}));
    if (::rename(beside_.c_str(), target_.c_str()) == 0) return success();
    if (errno != ENOTEMPTY && errno != EEXIST && !fs_.is_directory(target_)) return cannot("IO002", path_, "written", errno);
    // One product after the other.
    const Descriptor folder(::open(target_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return cannot("IO002", path_, "written", errno);
    (void)::flock(folder.get(), LOCK_EX);
    return replace_files();
  }

 private:
  static constexpr std::string_view kInside = ".openbuda";

  std::string inside(std::string_view name) const { return cat(target_, '/', name); }

  bool same_device(const std::string& parent) const {
    struct stat above {
    }, here{};
    if (::stat(target_.c_str(), &here) != 0) return true;
    return ::stat(parent.c_str(), &above) == 0 && above.st_dev == here.st_dev;
  }

  bool keep_in_mind(const std::string& path) { return !temporaries_.insert(path).second || temporary_names().add(path); }

  // Leaves `beside_` empty where the folder above does not let it be made.
  Result<void> make_beside(const std::string& name) {
    if (!keep_in_mind(name)) return cannot("IO003", path_, "created", ENOMEM);
    if (::mkdir(name.c_str(), 0777) != 0)
      return errno == EACCES || errno == EPERM || errno == EROFS ? success() : Result<void>(cannot("IO003", path_, "created", errno));
    beside_ = name;
    held_ = Descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    hold(held_);
    return success();
  }

  Result<void> make_folders_of(const std::string& name) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      const std::string folder = cat(beside_, '/', name.substr(0, slash));
      if (!keep_in_mind(folder)) return cannot("IO003", path_, "created", ENOMEM);
      if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return cannot("IO003", cat(path_, '/', name), "created", errno);
    }
    return success();
  }

  // The list is ours, so it is not among the files that this command reads.
  Result<void> put_list(const std::string& folder, const FileList& list) const {
    const auto fs = make_real_file_system();
    return fs->write(cat(folder, '/', kFileList), file_list_text(list), WriteMode::if_changed);
  }

  FileList old_list() const {
    const auto fs = make_real_file_system();
    const std::string path = inside(kFileList);
    if (!fs->exists(path)) return {true, {}};
    const auto text = fs->read(path);
    if (!text) return {};
    return parse_file_list(text->view()).value_or(FileList{});
  }

  bool is_unchanged(const std::string& name) const {
    if (options_.mode != WriteMode::if_changed) return false;
    const auto fs = make_real_file_system();
    const auto before = fs->read(inside(name)), after = fs->read(cat(beside_, '/', name));
    return before && after && before->view() == after->view();
  }

  // Before anything is touched: a folder that has a file's name stays.
  Result<void> require_room(const std::set<std::string>& names, const std::set<std::string>& ours) const {
    for (const std::string& name : names) {
      if (fs_.is_directory(inside(name))) return cannot("IO002", cat(path_, '/', name), "written", EISDIR);
      for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
        const std::string folder = name.substr(0, slash);
        if (fs_.exists(inside(folder)) && !fs_.is_directory(inside(folder)) && ours.count(folder) == 0)
          return cannot("IO003", cat(path_, '/', folder), "created", ENOTDIR);
      }
    }
    return success();
  }

  void remove(const std::string& name) const {
    const std::string path = inside(name);
    // Not through a link that leads elsewhere.
    if (fs_.canonical(stdfs::path(path).parent_path().string()) != stdfs::path(path).parent_path().string()) return;
    if (::unlink(path.c_str()) != 0) return;
    for (std::size_t slash = name.rfind('/'); slash != std::string::npos && slash != 0; slash = name.rfind('/', slash - 1))
      if (::rmdir(inside(name.substr(0, slash)).c_str()) != 0) return;
  }

  Result<void> move(const std::string& name) {
    if (const std::size_t slash = name.rfind('/'); slash != std::string::npos)
      BUDA_TRY(fs_.make_directories(inside(name.substr(0, slash))));
    // File systems that write a file to the disk before it replaces another one are slow at it; nobody takes the folder for whole now.
    ::unlink(inside(name).c_str());
    if (::rename(cat(beside_, '/', name).c_str(), inside(name).c_str()) != 0)
      return cannot("IO002", cat(path_, '/', name), "written", errno);
    return success();
  }

  Result<void> replace_files() {
    const FileList before = old_list();
    std::set<std::string> changed, all = before.files;
    for (const std::string& name : written_)
      if (!is_unchanged(name)) changed.insert(name);
    all.insert(written_.begin(), written_.end());
    const std::set<std::string>& kept = options_.adds ? all : written_;
    if (changed.empty() && before.whole && before.files == kept) return success();
    BUDA_TRY(require_room(written_, before.files));
    BUDA_TRY(put_list(target_, {false, all}));
    if (changed.count(options_.entry) != 0) ::unlink(inside(options_.entry).c_str());
    for (const std::string& name : before.files)
      if (kept.count(name) == 0) remove(name);
    for (const std::string& name : changed)
      if (name != options_.entry) BUDA_TRY(move(name));
    if (changed.count(options_.entry) != 0) BUDA_TRY(move(options_.entry));
    return put_list(target_, {true, kept});
  }

  FileSystem& fs_;
  std::string path_;    // as the user has it
  std::string target_;  // without links
  FolderOptions options_;
  std::string beside_;
  Descriptor held_;
  std::set<std::string> temporaries_, written_;
};

// For other file systems.
class GatheredFolder final : public FolderProduct {
 public:
  GatheredFolder(FileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}

  Result<std::unique_ptr<OutputFile>> create(const std::string& name) override {
    return std::unique_ptr<OutputFile>(new Content(files_, name));
  }
  Result<void> commit() override {
    for (const auto& [name, content] : files_) {
      const std::string path = cat(path_, '/', name);
      BUDA_TRY(fs_.make_directories(path.substr(0, path.rfind('/'))));
      BUDA_TRY(fs_.write(path, content));
    }
    return fs_.make_directories(path_);
  }

 private:
  using Files = std::map<std::string, std::string>;
  class Content final : public OutputFile {
   public:
    Content(Files& files, std::string name) : files_(files), name_(std::move(name)) {}
    Result<void> write(std::string_view data) override {
      content_ += data;
      return success();
    }
    Result<void> commit() override {
      files_[name_] = std::move(content_);
      return success();
    }

   private:
    Files& files_;
    std::string name_, content_;
  };

  FileSystem& fs_;
  std::string path_;
  Files files_;
};

}  // namespace

Result<std::unique_ptr<FolderProduct>> FolderProduct::begin(FileSystem& fs, const std::string& path, FolderOptions options) {
  if (!is_real(fs)) return std::unique_ptr<FolderProduct>(new GatheredFolder(fs, path));
  auto out = std::make_unique<RealFolder>(fs, path, std::move(options));
  BUDA_TRY(out->begin());
  return std::unique_ptr<FolderProduct>(std::move(out));
}

Result<void> FolderProduct::try_begin(FileSystem& fs, const std::string& path) {
  stdfs::path tried(fs.canonical(path));
  const bool is_there = fs.exists(tried.string());
  // The first one that is to be made.
  while (!is_there && tried.has_relative_path() && !fs.exists(tried.parent_path().string())) tried = tried.parent_path();
  if (!is_there && !fs.is_directory(tried.parent_path().string())) return cannot_make_folder(path, ENOTDIR);
  BUDA_TRY(begin(fs, is_there ? path : tried.string()));
  return success();
}

Result<void> FolderProduct::write(const std::string& name, std::string_view content) {
  BUDA_ASSIGN(auto file, create(name));
  BUDA_TRY(file->write(content));
  return file->commit();
}

}  // namespace buda::io
