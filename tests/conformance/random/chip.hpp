// SPDX-License-Identifier: Apache-2.0
// A model compiled for a device and run on a target, as an embedding program does it.
#pragma once

#include <buda/compiler/compile.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/image/image.hpp>
#include <buda/plugin/target.hpp>
#include <buda/tensor/named_tensors.hpp>

#include "recipe.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace buda::trial {

// Loaded once: plugins, and the device that graphs are compiled for.
struct Toolchain {
  plugin::Registries plugins;
  std::unique_ptr<io::FileSystem> files;
  CollectingSink sink;
  std::unique_ptr<Host> host;
};
Result<std::unique_ptr<Toolchain>> load_toolchain(const std::string& plugins, const std::string& share);

struct Compiled {
  image::Image image;
  std::set<std::string> host_nodes;  // of the recipe, ops of which at least a part is left to the host
  std::size_t host_segments = 0;
  std::map<std::string, std::string> notes;  // by op of the recipe, what the compiler says of it, if only as the first of its kind
};
Result<Compiled> compiled(const Recipe& recipe, const std::string& device, const compiler::CompileOptions& options, Toolchain& toolchain);

// The outputs, by the names of recipe.hpp.
Result<NamedTensors> run(const Compiled& model, const Recipe& recipe, runtime::Target& target, const device::DeviceDescriptor& device,
                         Toolchain& toolchain);

}  // namespace buda::trial
