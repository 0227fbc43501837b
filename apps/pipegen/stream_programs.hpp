// SPDX-License-Identifier: Apache-2.0
// From the pipes of one epoch to its stream programs.
#pragma once

#include "apps/pipegen/options.hpp"

#include <buda/device/cluster.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/io/bytes.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/format/pipes_file.hpp>

#include <map>
#include <mutex>
#include <string>

namespace buda::pipegen {

// Devices and clusters by name, each read once: epochs that are compiled side by side share them.
class Devices {
 public:
  // `files` is held while the host's file system is used.
  Devices(const Options& options, Host& host, std::mutex& files) : options_(options), host_(host), files_(files) {}

  // The device that --device names, else the one for which the pipes in `file` were made. TT-Buda's do not say.
  Result<device::DeviceDescriptor> device(const std::string& made_for, const std::string& file);
  Result<device::Cluster> cluster(const device::DeviceDescriptor& device);

 private:
  const Options& options_;
  Host& host_;
  std::mutex& files_;
  std::map<std::string, device::DeviceDescriptor> devices_;
  std::map<std::string, device::Cluster> clusters_;
};

struct StreamPrograms {
  pipes::PlacedGraph pipes;
  device::DeviceDescriptor device;
  device::Cluster cluster;  // empty if the pipes stay on a chip, and no cluster was asked for
  overlay::Blob blob;
};

// `file`: where diagnostics say that the bytes are from.
Result<StreamPrograms> compile(const io::Bytes& content, const std::string& file, bool with_cluster, Devices& devices);

}  // namespace buda::pipegen
