// SPDX-License-Identifier: Apache-2.0
// A compiled model as it is run: from an image, or from a netlist and the host plan beside it.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/host_plan/host_plan.hpp>
#include <buda/io/host.hpp>
#include <buda/runtime/streams.hpp>
#include <buda/runtime/target.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::image {
struct Image;
}

namespace buda::runtime {

using HostGraphs = std::map<std::string, std::shared_ptr<const graph::Graph>>;  // by the file that a segment of the plan names

// `parameters` by queue, in the queue's shape (w, z, r, c): the plan's transforms are done. `device` is what an image was compiled for;
// a plan beside a netlist only knows its name.
struct Model {
  // Compiled in one place (docs/decisions/0021).
  Model();
  Model(const Model&);
  Model(Model&&) noexcept;
  Model& operator=(const Model&);
  Model& operator=(Model&&) noexcept;
  ~Model();

  std::string path;
  io::Bytes text;  // of the netlist
  std::optional<device::DeviceDescriptor> device;
  host_plan::HostPlan plan;
  Program program;
  Products products;  // of an image; read when a target needs them
  NamedTensors parameters;
  HostGraphs host_graphs;

  // False when the host does all of the work, and the netlist has nothing in it.
  bool uses_device() const;
};

// A .tti image: from its file, and from its parts, for which `path` stands in messages. RT003: it holds several models.
Result<Model> load_image(const std::string& path, const io::Bytes& bytes);
Result<Model> load_image(const std::string& path, image::Image image);

// The models of an image that holds several (tti-merge). A device is loaded with the whole; each model knows its part of the netlist.
struct MergedModel {
  Model whole;                // its plan runs nothing
  std::vector<Model> models;  // plan.model is the name by which one is chosen
};
// Of an image with one model: that model, under its name, and the same as the whole.
Result<MergedModel> load_models(const std::string& path, image::Image image);
Result<MergedModel> load_models(Host& host, const std::string& path);

// A netlist with its plan; files that the plan names are read from the plan's folder.
Result<Model> load_planned(Host& host, const std::string& netlist_path, const std::string& plan_path);

// The parameters of a plan, read from their files in `folder` ("" for the working directory) and brought into their queues' shape.
Result<NamedTensors> load_parameters(Host& host, const host_plan::HostPlan& plan, const std::string& folder);

// The same, from tensors by file and name.
Result<NamedTensors> parameters_from(const host_plan::HostPlan& plan, const std::map<std::string, NamedTensors>& files,
                                     const std::string& folder = "");

// The graphs of the plan's host segments, read from `folder`.
Result<HostGraphs> load_host_graphs(io::FileSystem& fs, const host_plan::HostPlan& plan, const std::string& folder);

// The folder of a path, with its slash; "" for a bare name.
std::string folder_of(const std::string& path);

}  // namespace buda::runtime

#pragma GCC visibility pop
