// SPDX-License-Identifier: Apache-2.0
// Several images as one, for one device that holds all of their models at once.
//
//   BUDA_ASSIGN(auto merged, image::merge_images({{"bert", bert_image}, {"vit", vit_image}}, {}));
//   std::cout << image::memory_profile_text(merged.memory);
//
// Models share nothing and take turns. Their queues lie side by side in the device's and the host's memory.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/image/image.hpp>
#include <buda/image/merge_memory.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::image {

struct NamedImage {
  std::string name;  // by which the model is chosen later
  Image image;
};

struct MergeOptions {
  std::string name = "merged_model";
  std::string arch = "wormhole_b0";  // that all images must be for
  MemoryOptions memory;
};

struct Merged {
  Image image;  // without products of the compiler: stream programs hold addresses, and these are new ones
  netlist::Netlist netlist;
  device::DeviceDescriptor device;
  MemoryProfile memory;
  bool had_streams = false;  // some image had stream programs, so that the merged one should have them, too
};

// Names of queues, graphs, ops and programs of model i begin with "model_<i>_" in the merged netlist, counted from 0; members of its host
// segments are in the folder model_<i>. All images must be for devices of the same kind (check_same_device), and each for one chip.
// With memory.overlap_dynamic, queues that only carry data between graphs of one program become dynamic (merge_netlist.hpp).
// IM030: what does not fit, as place_queues tells it. IM031: images that cannot be merged. IM010 to IM013: different devices.
Result<Merged> merge_images(std::vector<NamedImage> images, const MergeOptions& options);

}  // namespace buda::image

#pragma GCC visibility pop
