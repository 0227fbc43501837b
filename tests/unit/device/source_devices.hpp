// SPDX-License-Identifier: Apache-2.0
// The devices of the source tree, for tests.
#pragma once

#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace buda::device {

// A host whose data are those of the source tree.
inline Host& source_host() {
  static const auto fs = io::make_real_file_system();
  static CollectingSink sink;
  static Host host = [] {
    Host h(*fs, sink);
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    h.share_dir = std::string(source == nullptr ? "." : source) + "/share";
    return h;
  }();
  return host;
}

// A device that ships, read once.
inline const DeviceDescriptor& shipped(const std::string& name) {
  static std::map<std::string, DeviceDescriptor> known;
  if (auto found = known.find(name); found != known.end()) return found->second;
  auto loaded = load_device(source_host(), name);
  EXPECT_TRUE(loaded.ok()) << "device " << name << ": run from the source folder, or set BUDA_SOURCE_DIR";
  return known[name] = loaded.ok() ? *loaded : DeviceDescriptor{};
}

}  // namespace buda::device
