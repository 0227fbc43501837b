// SPDX-License-Identifier: Apache-2.0
// Which kernel an op needs: a family of templates (share/kernels/families) and what is compiled into it.
//
// Formats, fidelity and attributes that change code are compiled in; counts of tiles and places in L1 are arguments, which a kernel reads
// when it starts (arguments.hpp). So ops of the same kind share a kernel, whatever their sizes.
#pragma once

#include <buda/netlist/model/netlist.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::kernels {

struct Package;

// A constant of a kernel, as C++ writes it: `constexpr TYPE NAME = VALUE`.
struct Constant {
  std::string type, name, value;
  friend auto operator<=>(const Constant&, const Constant&) = default;
};

struct Kernel {
  std::string family;  // of a header in share/kernels/families, or the name of a package
  std::vector<Constant> constants;
  std::vector<std::vector<Constant>> steps = {};  // of family `steps`: those of each step
  std::string header = {};                        // of a package's header
  friend auto operator<=>(const Kernel&, const Kernel&) = default;
};

// Why an op has no kernel: a sentence without a full stop, and what would help.
struct NoKernel {
  std::string reason;
  std::string hint;
};

// `fused`: the fused op that it refers to, or null; `package`: what replaces its kernel, or null.
std::variant<Kernel, NoKernel> kernel_of(const netlist::Op& op, const netlist::FusedOp* fused, const Package* package = nullptr);

}  // namespace buda::kernels

#pragma GCC visibility pop
