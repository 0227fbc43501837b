// SPDX-License-Identifier: Apache-2.0
// Where a target that executes kernels gets them from, as its user says.
#pragma once

#include <buda/kernels/text/kernel_set.hpp>
#include <buda/schema/option.hpp>

#include <map>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::kernels {

struct KernelSource {
  std::string folder;  // empty: they are compiled
  BuildOptions build;
};

// Options kernels, cxx and cache, and what was said for them.
std::vector<schema::OptionSpec> source_options();
KernelSource source_of(const schema::OptionValues& values);
// The kernels of a netlist for wormhole_b0; one for another architecture is KC005. `in_image`: files of a folder of kernels, or none.
Result<KernelSet> kernels_for(const netlist::Netlist& netlist, const std::map<std::string, io::Bytes>& in_image, const KernelSource& source,
                              Host& host);

}  // namespace buda::kernels

#pragma GCC visibility pop
