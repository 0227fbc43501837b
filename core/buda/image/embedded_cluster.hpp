// SPDX-License-Identifier: Apache-2.0
// The links between chips that an image was made for.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/image/image.hpp>

#include <optional>
#include <string>

namespace buda::image {

// The cluster descriptor inside an image; nothing if it has none. Otherwise what is wrong with it, at its place in
// `path`:backend_build_binaries/cluster_desc.yaml.
Result<std::optional<device::Cluster>> embedded_cluster(const Image& image, const device::DeviceDescriptor& device,
                                                        const std::string& path);

}  // namespace buda::image
