// SPDX-License-Identifier: Apache-2.0
// Running of the stages, one after the other, on files of a folder.
#pragma once

#include "apps/buda/options.hpp"
#include "apps/buda/stages.hpp"

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <memory>
#include <string>
#include <vector>

namespace buda::driver {

class Compilation {
 public:
  // `stays`: the folder is the user's.
  Compilation(const Options& o, cli::ToolHost& host, std::string folder, bool stays);

  Result<void> run();

  // The balancer's.
  const std::string& report() const { return files_.report; }
  // The optimizer's, with --accuracy.
  const std::string& rules() const { return files_.rules; }

 private:
  Result<void> remove_old_epochs();
  Result<void> run_balancer(const StageCommand& optimizer, const StageCommand& balancer, const std::string& number);
  Result<void> check_samples();
  Result<void> run_stage(const StageCommand& command, const std::string& number);
  std::vector<std::string> arguments_of(const StageCommand& command) const;
  Result<void> add_timeline_of(const StageCommand& command);
  Result<void> note_dependencies(const StageCommand& command);

  const Options& o_;
  cli::ToolHost& host_;
  std::string folder_;
  bool stays_;
  BuildFiles files_;
  std::size_t product_width_ = 0;  // of the table of stages
  // For files of the stages, on which the image does not depend: the host's notes what it reads.
  std::unique_ptr<io::FileSystem> stage_files_ = io::make_real_file_system();
};

}  // namespace buda::driver
