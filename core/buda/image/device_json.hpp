// SPDX-License-Identifier: Apache-2.0
// device.json: what an image says about itself.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/io/node.hpp>
#include <buda/tensor/dtype.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::image {

// The folder of an archive in which everything lies.
inline constexpr std::string_view kTopFolder = "unzipped_tti/";

// The version of the archive's layout, TT-Buda's.
inline constexpr const char* kImageVersion = "1.1.0";

// A tensor in a member of its own: raw bytes, row-major (.bin); the tiles of its queue (.tbin), of which `format` is the queue's; or a file
// of NumPy or safetensors. Strides are in bytes. `format` is the device format whose host form the elements have: "Float32" for F32,
// "Float16_b" for BF16, "RawUInt32" for U32.
struct TensorEntry {
  std::string bin;  // name of the member, below the top folder
  std::int64_t itemsize = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t dim = 0;
  std::string format;
  // Of a tilized tensor, whose bytes are the buffers of its queue one after the other; TT-Buda writes the one name and reads the other.
  std::optional<std::int64_t> num_buffers, buf_size_bytes, buffer_size_bytes;
  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};
const schema::Record<TensorEntry>& describe(const TensorEntry*);

std::optional<std::string> host_format(DType dtype);
std::optional<DType> dtype_of_host_format(const std::string& format);

// A model of an image that holds several: how it is called, what the names of its parts in the netlist begin with, and how it is run.
struct ModelPart {
  std::string name;
  std::string prefix;  // "model_0_"
  std::int64_t microbatch = 1;
  host_plan::HostPlan plan;
  friend bool operator==(const ModelPart&, const ModelPart&) = default;
};
const schema::Record<ModelPart>& describe(const ModelPart*);

// What device.json holds, as far as it means something here. Keys of TT-Buda that do not (loss module, …) are neither written nor looked
// at.
struct DeviceJson {
  // Of the programs that made the image: "openbuda_version", or what TT-Buda writes (pybuda_version, pybuda_commit, buda_backend_commit).
  std::map<std::string, std::string> versions;
  std::string name;                // of the model
  std::string arch;                // "wormhole_b0"
  std::string backend = "Golden";  // kind of device: "Silicon", "Golden"
  std::vector<std::int64_t> chip_ids = {0};
  GridShape grid;                            // of workers
  std::vector<std::int64_t> harvested_rows;  // mask of NoC rows, per chip
  std::int64_t microbatch = 1;               // queue entries per batch
  bool training = false;
  std::string netlist;                                   // name of the member, below the top folder
  std::vector<std::vector<std::int64_t>> target_shapes;  // of a training graph
  std::map<std::string, TensorEntry> tensors;            // parameters, by queue
  // Ours, under `host_plan`; its files are members. Where there are several models it is what they have together: the inputs and outputs of
  // all of them, as MODEL/NAME, and no segments.
  host_plan::HostPlan plan;
  std::vector<ModelPart> models;  // ours, under `models`; empty where the image holds one
  friend bool operator==(const DeviceJson&, const DeviceJson&) = default;
};

// The version of this library, which images name as that of their maker.
std::string toolchain_version();

// The inputs and outputs of all models.
host_plan::HostPlan joined_plan(const std::string& name, const std::vector<ModelPart>& models);

io::Node device_json(const DeviceJson& device);
// An archive of TT-Buda's own has no host plan, and is refused for that.
Result<DeviceJson> read_device_json(const io::Node& top);
// The same for an archive of TT-Buda, too: without a host plan its inputs and outputs are named after their queues. Nothing can run it.
Result<DeviceJson> describe_device_json(const io::Node& top);

}  // namespace buda::image

#pragma GCC visibility pop
