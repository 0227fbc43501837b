// SPDX-License-Identifier: Apache-2.0
// Writes blob files in the form of TT-Buda's pipegen2: a block of parameters for every phase of every stream.
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/blob/yaml_source.hpp>

namespace buda::overlay {

Result<void> write_blob_yaml(const Blob& blob, const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, std::uint32_t epoch,
                             io::OutputFile& out) {
  const YamlSource source(blob, graph, device);
  BUDA_TRY(write_yaml_dram(source, out));
  BUDA_TRY(write_yaml_phases(source, static_cast<std::uint64_t>(epoch) << 32, out));
  return out.write("global_info_blob:\n");
}

}  // namespace buda::overlay
