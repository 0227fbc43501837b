// SPDX-License-Identifier: Apache-2.0
// The image of a compiled model: one file with everything that running it needs (docs/formats/tti.md).
#pragma once

#include <buda/image/archive.hpp>
#include <buda/image/device_json.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <map>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::image {

// An image in parts. `device` names the netlist and the tensors by the names of their members; write_image sets these names, and the
// entries of `device.tensors`, from what it writes.
struct Image {
  // Compiled in one place (docs/decisions/0021).
  Image();
  Image(const Image&);
  Image(Image&&) noexcept;
  Image& operator=(const Image&);
  Image& operator=(Image&&) noexcept;
  ~Image();

  DeviceJson device;
  std::string netlist_name;  // "digits.yaml"
  io::Bytes netlist;
  Members build;            // products of the compiler, by their names below its output folder
  NamedTensors parameters;  // by queue; as they are pushed: (w, z, r, c), with all transforms of the plan done
  Members extras;           // further members: the descriptors of device and cluster, host graphs
  // What the compiler was told, by its names: compile_and_runtime_config.json.
  std::map<std::string, std::string> settings;
};

// Names of the members that hold the descriptors of the device (buda.device/1) and of its cluster (buda.cluster/1), both without a base.
inline constexpr const char* kDeviceMember = "backend_build_binaries/device_desc.yaml";
inline constexpr const char* kClusterMember = "backend_build_binaries/cluster_desc.yaml";

// How parameters are stored: as raw bytes; in the format and blocking of their queues, so that nothing is left to do when they are pushed;
// or as files that other programs read. What cannot be stored as tiles (integers, queues that are not tilized) is stored raw.
enum class TensorStore : std::uint8_t { raw, tilized, npy, safetensors };

// `threads`: that compute checksums; the bytes do not depend on it.
Result<void> write_image(io::OutputFile& out, Image image, unsigned threads = 1, TensorStore store = TensorStore::raw);

// Reads the members of an image, without their top folder, and verifies their checksums; an error names the member that is not what it was.
// An archive of TT-Buda without checksums by member is taken as it is.
Result<Members> read_members(const io::Bytes& bytes, const std::string& path);

// The parts of an image, from the archive or from its members. Tensors share the archive's memory.
Result<Image> read_image(const io::Bytes& bytes, const std::string& path);
Result<Image> read_image(const Members& members, const std::string& path);

// The description alone, of archives of TT-Buda, too. Tensors are not looked at.
Result<DeviceJson> read_description(const Members& members, const std::string& path);
// The settings with which an image was compiled; empty where it has none. Values that are no texts are taken as they are written.
Result<std::map<std::string, std::string>> read_settings(const Members& members, const std::string& path);

// Whether a file begins as a tar or zip archive does, so that it is no netlist and no graph.
bool looks_like_image(std::string_view head);

}  // namespace buda::image

#pragma GCC visibility pop
