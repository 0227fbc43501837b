// SPDX-License-Identifier: Apache-2.0
// Finds and reads device descriptors.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/io/node.hpp>

#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::device {

// A name ("n150") is looked up as <host.share_dir>/devices/<name>.yaml; what has a slash in it or ends in .yaml or .yml is a path. A file
// is either a descriptor of ours (buda.device/1) or a SoC descriptor of TT-Buda, whose grid, DRAM, ethernet and sizes then replace those of
// the architecture's full grid. Names of PyBuda ("gs_e150", "wh_n150") mean the same boards, and ":harvested_rows=1,11" behind a name or a
// path switches off just these rows of workers (device_name.hpp).
Result<DeviceDescriptor> load_device(Host& host, const std::string& name_or_path);

// The names that load_device knows, sorted.
std::vector<std::string> known_devices(Host& host);

// What makes a descriptor unusable: empty grid, places off the NoC, sizes that contradict each other. DV010 and on; empty when all is well.
std::vector<Diagnostic> check_device(const DeviceDescriptor& device, const SourceLoc& loc);

// The parts of `soc`, a parsed SoC descriptor of TT-Buda, laid over `device`, the full grid of its architecture.
Result<void> apply_soc_descriptor(const io::Node& soc, DeviceDescriptor& device);
// Whether a parsed file looks like one, and the architecture that it names.
bool is_soc_descriptor(const io::Node& top);
Result<std::string> soc_arch(const io::Node& soc);

}  // namespace buda::device

#pragma GCC visibility pop
