// SPDX-License-Identifier: Apache-2.0
// An image of the store on its way to its place.
#pragma once

#include <buda/cli/tool.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/file_system.hpp>

#include <memory>
#include <string>

namespace buda::driver {

// It is written before it is known to be sound, and appears with finish(). One that is there already gets a new time only, since to replace
// a large file takes the file system longer than all else.
class TakenImage {
 public:
  TakenImage(std::string path, cli::ToolHost& host) : path_(std::move(path)), host_(host) {}

  // May be called again with other content.
  void begin(const io::Bytes& content);
  Result<void> finish();

 private:
  std::string path_;
  cli::ToolHost& host_;
  bool is_there_ = false;
  std::unique_ptr<io::OutputFile> file_;
  Result<void> written_;
};

}  // namespace buda::driver
