// SPDX-License-Identifier: Apache-2.0
// Compilers for the processors of a core: GCC for bare-metal RISC-V, and Clang with LLD, as Debian has them.
#pragma once

#include <buda/kernels/text/kernel_set.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace buda::kernels {

struct Toolchain {
  Compiler kind = Compiler::gcc;
  std::string path;
  std::string version;            // "gcc 12.2.0"
  std::chrono::seconds limit{0};  // of a run
};

// `scratch` is a folder for a file.
Result<Toolchain> find_toolchain(const BuildOptions& options, const std::string& scratch, io::FileSystem& fs);

// What one thread of a kernel is compiled from, by paths.
struct CompileJob {
  std::size_t thread = 0;
  std::string source, script, output;
  std::vector<std::string> include;                           // folders
  std::vector<std::pair<std::string, std::string>> known_as;  // beginnings of paths, and what products say instead
  bool prints = false, zones = false;
};
std::vector<std::string> command_of(const Toolchain& toolchain, const CompileJob& job);
Result<void> compile(const Toolchain& toolchain, const CompileJob& job, const std::string& what);

}  // namespace buda::kernels
