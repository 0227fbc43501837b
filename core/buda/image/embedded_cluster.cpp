// SPDX-License-Identifier: Apache-2.0
// Reading the member.
#include <buda/image/embedded_cluster.hpp>

#include <buda/base/text.hpp>

#include <utility>

namespace buda::image {

Result<std::optional<device::Cluster>> embedded_cluster(const Image& image, const device::DeviceDescriptor& device,
                                                        const std::string& path) {
  auto member = image.extras.find(kClusterMember);
  if (member == image.extras.end()) return std::optional<device::Cluster>();
  BUDA_ASSIGN(auto cluster, device::parse_cluster(member->second.view(), cat(path, ':', kClusterMember), device));
  return std::optional<device::Cluster>(std::move(cluster));
}

}  // namespace buda::image
