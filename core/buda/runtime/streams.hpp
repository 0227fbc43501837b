// SPDX-License-Identifier: Apache-2.0
// Stream programs for targets that execute them: from the products of a compilation, or made here.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/bytes.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/target.hpp>

#include <map>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::runtime {

// Of an image its cluster descriptor, by this name among the products, and the folder of kernels, by what their names begin with.
inline constexpr const char* kClusterProduct = "cluster_desc.yaml";
inline constexpr std::string_view kKernelProducts = "kernels/";

// Files that the compiler has made, by their name in its output folder ("temporal_epoch_0/overlay/blob.json"), unread.
struct Products {
  std::string where;  // the image or the folder, for messages
  std::map<std::string, io::Bytes> files;
};

// The stream programs in a folder as netlist2pipe and pipegen leave it. A folder without any is an error (RT040).
Result<Products> read_products(io::FileSystem& fs, const std::string& folder);

bool has_streams(const Products& products);

// Puts into the program what the target needs and the program lacks. Stream programs are read from the products, where there are any, each
// once; a bad one is reported with its file and line, and one that is missing, or is not of this netlist and architecture, is an error
// (RT041). Without products they are made from the netlist, for the chips of the device, and the Ethernet links of
// the image or else the device. Kernels are those among the products; where there are none, targets compile them.
Result<void> complete_program(Program& program, const Needs& needs, const Products& products, const device::DeviceDescriptor& device,
                              Host& host);

}  // namespace buda::runtime

#pragma GCC visibility pop
