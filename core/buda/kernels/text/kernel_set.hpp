// SPDX-License-Identifier: Apache-2.0
// The kernels of a netlist, compiled, and the folder in which they are kept (format buda.kernels/1).
#pragma once

#include <buda/kernels/text/kernel.hpp>

#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/host.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::kernels {

// Of the compute threads unpack, math and pack.
struct CompiledKernel {
  std::string id;  // a digest of all that it is made from
  Kernel kernel;
  std::array<io::Bytes, 3> executables, sources;
};

struct KernelSet {
  std::string arch;
  std::string compiler;                             // "gcc 12.2.0"
  std::vector<CompiledKernel> kernels;              // by id
  std::map<std::string, std::size_t> kernel_of_op;  // by the op's name, which is the only one of it in a netlist
};

enum class Compiler : std::uint8_t {
  any,  // gcc, or clang where there is none
  gcc,
  clang,
};

struct BuildOptions {
  Compiler compiler = Compiler::any;
  std::string path;                        // of a compiler of the kind `compiler`; empty: where Debian's packages have it
  std::string store;                       // of products (cache/store.hpp); empty: nothing is kept
  std::int64_t seconds = 300;              // a compiler that takes longer for a thread is ended: KC003
  bool prints = false;                     // DPRINT in kernels is compiled
  bool zones = false;                      // ZONE in kernels is compiled; not both: KC012
  std::vector<std::string> packages = {};  // folders of kernels that replace those of some ops (package.hpp)
};

// Ops without a kernel are KC001, each at its place; no compiler is KC002, one that fails, also as a kernel does not fit, KC003.
Result<KernelSet> build_kernels(const netlist::Netlist& netlist, const BuildOptions& options, Host& host);

// manifest.json, and of each kernel a folder with an ELF file and a source for each thread.
Result<void> write_kernels(const KernelSet& set, const std::string& folder, Host& host);
// Sources are not read.
Result<KernelSet> read_kernels(const std::string& folder, Host& host);
// The same of files by their path in the folder; `where` is for messages.
Result<KernelSet> read_kernels(const std::map<std::string, io::Bytes>& files, const std::string& where);

}  // namespace buda::kernels

#pragma GCC visibility pop
