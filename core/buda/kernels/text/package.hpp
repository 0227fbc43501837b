// SPDX-License-Identifier: Apache-2.0
// Kernels of third parties: folders with a file kernel.yaml (format buda.kernel/1), which replace the kernels of some ops.
//
// A package has a function for the vector unit (.sfpu), which golden's bits then come from, too, or a header in place of the family's
// (share/kernels/families), or both.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/schema/record.hpp>
#include <buda/sfpu/program.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace buda::kernels {

// Which ops: those of a type, those with these names, or those of a fused op.
struct Replaced {
  std::string type;
  std::vector<std::string> ops;
  std::string fused_op;
  friend bool operator==(const Replaced&, const Replaced&) = default;
};

// The file.
struct PackageFile {
  std::int64_t abi = 0;
  std::string name;
  Replaced replaces;
  std::string function, header;             // files of the folder
  std::map<std::string, double> constants;  // of the function
  friend bool operator==(const PackageFile&, const PackageFile&) = default;
};
const schema::Record<Replaced>& describe(const Replaced*);
const schema::Record<PackageFile>& describe(const PackageFile*);

struct Package {
  std::string folder;
  std::string name;
  Replaced replaces;
  std::optional<sfpu::Program> function;
  std::string header;  // in `folder`; empty: the family that the op has without it
};
using Packages = std::vector<Package>;

// Those of the folders, and those that fused ops of the netlist name (custom_kernel_path, relative to the netlist's folder). What is no
// package is KC006; a function for an op that is none of one operand is KC007, and a package that replaces nothing the warning KC008.
Result<Packages> read_packages(const netlist::Netlist& netlist, const std::vector<std::string>& folders, Host& host);

// The first that replaces this op, or null.
const Package* package_of(const Packages& packages, const netlist::Op& op);

}  // namespace buda::kernels
