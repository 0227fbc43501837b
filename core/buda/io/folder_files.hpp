// SPDX-License-Identifier: Apache-2.0
// Reading a folder that others may have filled: what in it leads out, or would be waited for without end, is refused.
#pragma once

#include <buda/io/host.hpp>

#include <string>

namespace buda::io {

// Another file system, of which `folder` is all that can be seen under its name: links in it that lead elsewhere have nothing behind them,
// and cannot be read (IO013). FIFOs and devices cannot be read anywhere (IO013). Other paths, as of the program's own data, are as they
// are.
class FolderFiles final : public FileSystem {
 public:
  FolderFiles(FileSystem& all, std::string folder);

  Result<Bytes> read(const std::string& path) override;
  Result<std::unique_ptr<OutputFile>> create(const std::string& path, WriteMode mode) override { return all_.create(path, mode); }
  bool exists(const std::string& path) override { return all_.exists(path); }
  bool is_directory(const std::string& path) override { return !leads_out(path) && all_.is_directory(path); }
  Result<void> make_directories(const std::string& path) override { return all_.make_directories(path); }
  std::string canonical(const std::string& path) override { return all_.canonical(path); }
  Result<std::vector<std::string>> list(const std::string& directory) override;

 private:
  bool leads_out(const std::string& path);

  FileSystem& all_;
  std::string folder_;     // as it was named, without "." and ".."
  std::string canonical_;  // without links
};

// A host that reads so, and is another one in all else.
class FolderHost final : public Host {
 public:
  FolderHost(Host& host, const std::string& folder);
  void log(int level, std::string_view message) override { host_.log(level, message); }
  void progress(std::string_view what, std::size_t done, std::size_t total) override { host_.progress(what, done, total); }

 private:
  struct Sink final : DiagSink {
    explicit Sink(Host& to) : host(to) {}
    void report(const Diagnostic& d) override { host.report(d); }
    Host& host;
  };

  Host& host_;
  Sink sink_;
  FolderFiles files_;
};

}  // namespace buda::io
