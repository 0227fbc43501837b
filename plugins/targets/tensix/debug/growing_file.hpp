// SPDX-License-Identifier: Apache-2.0
// A file of a trace or of registers: it grows while the device lives, and is there when that has ended.
#pragma once

#include <buda/io/host.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace buda::tensix {

class GrowingFile {
 public:
  GrowingFile(std::unique_ptr<io::OutputFile> file, Host& host) : file_(std::move(file)), host_(host) {}
  GrowingFile(const GrowingFile&) = delete;
  ~GrowingFile() { keep(file_->commit()); }

  void write(std::string_view text) {
    if (!failed_) keep(file_->write(text));
  }

 private:
  void keep(Result<void> result) {
    if (failed_ || result) return;
    failed_ = true;
    for (const Diagnostic& d : result.failure().diagnostics()) host_.report(d);
  }

  std::unique_ptr<io::OutputFile> file_;
  Host& host_;
  bool failed_ = false;
};

}  // namespace buda::tensix
