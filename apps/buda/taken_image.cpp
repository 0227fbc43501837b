// SPDX-License-Identifier: Apache-2.0
// Compares, else writes.
#include "apps/buda/taken_image.hpp"

#include <buda/base/text.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

namespace buda::driver {

void TakenImage::begin(const io::Bytes& content) {
  // What the host's file system has read it would not overwrite.
  auto files = io::make_real_file_system();
  std::error_code ignored;
  auto there = std::filesystem::is_regular_file(path_, ignored) ? files->read(path_) : Result<io::Bytes>(io::Bytes());
  is_there_ = there && there->view() == content.view();
  if (is_there_) return;
  auto file = host_.fs().create(path_, host_.write_mode);
  if (!file) {
    written_ = std::move(file).failure();
    return;
  }
  written_ = (*file)->write(content.view());
  file_ = std::move(*file);
}

Result<void> TakenImage::finish() {
  if (!is_there_) {
    BUDA_TRY(std::move(written_));
    return file_->commit();
  }
  std::error_code error;
  if (host_.write_mode == io::WriteMode::always)
    std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now(), error);
  if (error) return input_error("IO002", {path_}, cat("cannot be written: ", error.message()));
  return success();
}

}  // namespace buda::driver
