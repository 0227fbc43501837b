// SPDX-License-Identifier: Apache-2.0
// What a stage may ask of the program that runs it: files, a place for warnings, and how to use the machine.
#pragma once

#include <buda/base/rng.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/file_system.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda {

// Handed down by reference through every stage and plugin. Below it nobody reads the environment, prints or exits.
class Host {
 public:
  Host(io::FileSystem& fs, DiagSink& diagnostics) : fs_(&fs), diagnostics_(&diagnostics) {}
  virtual ~Host() = default;

  io::FileSystem& fs() { return *fs_; }
  void report(const Diagnostic& d) { diagnostics_->report(d); }

  // How many threads a stage may use; the result must not depend on it.
  unsigned threads = 1;
  // The seed of everything random.
  std::uint64_t seed = Rng::kDefaultSeed;
  // Directory of installed data files (devices/, pipelines/, …); found relative to the executable.
  std::string share_dir;
  // Whether products with unchanged content keep their time.
  io::WriteMode write_mode = io::WriteMode::always;

  // A line for people. level 0: unless --quiet; 1: what is done, for -v; 2: details, for -vv.
  virtual void log(int level, std::string_view message) {
    (void)level;
    (void)message;
  }
  // Progress of the work at hand, for a bar on a terminal; total 0 = unknown. Cheap enough to call per node.
  virtual void progress(std::string_view what, std::size_t done, std::size_t total) {
    (void)what;
    (void)done;
    (void)total;
  }

 private:
  io::FileSystem* fs_;
  DiagSink* diagnostics_;
};

}  // namespace buda

#pragma GCC visibility pop
