// SPDX-License-Identifier: Apache-2.0
// Compilers for cores, where they are installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace buda::tensix::test {

struct InstalledCompiler {
  std::string name, path;
  std::vector<std::string> flags;
};

inline std::vector<InstalledCompiler> compilers() {
  std::vector<InstalledCompiler> out;
  for (const InstalledCompiler& c :
       {InstalledCompiler{"gcc", "/usr/bin/riscv64-unknown-elf-g++", {"-nostartfiles"}},
        InstalledCompiler{"clang", "/usr/bin/clang++", {"--target=riscv32-unknown-elf", "-fuse-ld=lld", "-mno-relax"}}})
    if (std::filesystem::exists(c.path) && (c.name == "gcc" || std::filesystem::exists("/usr/bin/ld.lld"))) out.push_back(c);
  return out;
}

}  // namespace buda::tensix::test
