// SPDX-License-Identifier: Apache-2.0
// The description of an image, format buda.image-info/1: what `tti-pack info` says (docs/tools/tti-pack.md).
#pragma once

#include <buda/base/grid.hpp>
#include <buda/image/image.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::tti_pack {

struct InfoTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string queue;
  friend bool operator==(const InfoTensor&, const InfoTensor&) = default;
};

struct InfoGraph {
  std::string name;
  std::int32_t chip = 0;
  std::int32_t inputs_per_epoch = 0;
  std::uint64_t ops = 0;
  std::int64_t cores = 0;
  friend bool operator==(const InfoGraph&, const InfoGraph&) = default;
};

struct InfoQueue {
  std::string name;
  std::string kind;
  std::string input;
  std::int32_t entries = 0;
  std::vector<std::int64_t> shape;  // of one entry: t, rows, columns
  std::string format;
  std::string location;
  std::uint64_t bytes = 0;  // of all buffers
  friend bool operator==(const InfoQueue&, const InfoQueue&) = default;
};

struct InfoMember {
  std::string name;
  std::uint64_t bytes = 0;
  friend bool operator==(const InfoMember&, const InfoMember&) = default;
};

// A model of an image that holds several.
struct InfoModel {
  std::string name;
  std::string prefix;
  std::vector<std::string> programs;
  friend bool operator==(const InfoModel&, const InfoModel&) = default;
};

// What runs one after the other: programs on the device, or a graph on the host.
struct InfoSegment {
  std::string kind;
  std::string file;
  std::vector<std::string> programs;
  friend bool operator==(const InfoSegment&, const InfoSegment&) = default;
};

struct ImageInfo {  // wide because each part of an image has a list
  std::map<std::string, std::string> versions;
  std::string model;
  std::string device;
  std::string arch;
  std::vector<std::int64_t> chip_ids;
  std::string backend;
  GridShape grid;
  std::vector<std::int64_t> harvested_rows;  // a mask of NoC rows for each chip
  bool training = false;
  std::vector<std::vector<std::int64_t>> input_shapes, target_shapes;
  std::map<std::string, std::string> settings;
  std::vector<InfoModel> models;      // of several
  std::vector<InfoSegment> segments;  // of a single model
  std::uint64_t bytes = 0;            // of the file
  std::vector<InfoTensor> inputs, outputs;
  std::vector<std::string> programs;
  std::uint64_t epochs = 0;
  std::vector<InfoGraph> graphs;
  std::vector<InfoQueue> queues;
  std::uint64_t parameters = 0;
  std::uint64_t parameter_bytes = 0;
  std::vector<InfoMember> members;
  friend bool operator==(const ImageInfo&, const ImageInfo&) = default;
};

const schema::Record<InfoTensor>& describe(const InfoTensor*);
const schema::Record<InfoGraph>& describe(const InfoGraph*);
const schema::Record<InfoQueue>& describe(const InfoQueue*);
const schema::Record<InfoMember>& describe(const InfoMember*);
const schema::Record<InfoModel>& describe(const InfoModel*);
const schema::Record<InfoSegment>& describe(const InfoSegment*);
const schema::Record<ImageInfo>& describe(const ImageInfo*);

// `members` and `netlist` are those of the image; `file_bytes` its size.
Result<ImageInfo> image_info(const image::DeviceJson& description, const image::Members& members, const netlist::Netlist& netlist,
                             std::map<std::string, std::string> settings, std::size_t file_bytes);

// For people: the sections of PyBuda's guide, then a table each of inputs, outputs, graphs, queues, settings and members.
std::string image_info_text(const ImageInfo& info);

}  // namespace buda::tti_pack
