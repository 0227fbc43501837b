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

// A tensor kept as raw bytes, row-major, in a member of its own. Strides are in bytes. `format` is the device format whose host form the
// elements have: "Float32" for F32, "Float16_b" for BF16, "RawUInt32" for U32.
struct TensorEntry {
  std::string bin;  // name of the member, below the top folder
  std::int64_t itemsize = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t dim = 0;
  std::string format;
  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};
const schema::Record<TensorEntry>& describe(const TensorEntry*);

std::optional<std::string> host_format(DType dtype);
std::optional<DType> dtype_of_host_format(const std::string& format);

// What device.json holds, as far as it means something here. Keys of TT-Buda that do not (loss module, Python versions, …) are neither
// written nor looked at.
struct DeviceJson {
  std::string name;  // of the model
  std::string arch;  // "wormhole_b0"
  std::vector<std::int64_t> chip_ids = {0};
  GridShape grid;                              // of workers
  std::vector<std::int64_t> harvested_rows;    // mask of NoC rows, per chip
  std::int64_t microbatch = 1;                 // queue entries per batch
  std::string netlist;                         // name of the member, below the top folder
  std::map<std::string, TensorEntry> tensors;  // parameters, by queue
  host_plan::HostPlan plan;                    // ours, under `host_plan`; its files are members
  friend bool operator==(const DeviceJson&, const DeviceJson&) = default;
};

io::Node device_json(const DeviceJson& device);
// An archive of TT-Buda's own has no host plan, and is refused for that.
Result<DeviceJson> read_device_json(const io::Node& top);

}  // namespace buda::image

#pragma GCC visibility pop
