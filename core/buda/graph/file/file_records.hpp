// SPDX-License-Identifier: Apache-2.0
// The lines of a graph file as structs: what stands in it, word for word, before names become nodes. Internal to reader and writer.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace buda::graph {

// Words of enumerations that belong to other modules.
struct DTypeWord {
  DType value = DType::f32;
  friend bool operator==(const DTypeWord&, const DTypeWord&) = default;
};
struct FormatWord {
  std::optional<DataFormat> value;
  friend bool operator==(const FormatWord&, const FormatWord&) = default;
};

struct TypeRecord {
  DTypeWord dtype;
  std::vector<std::int64_t> shape;
  FormatWord format;
  friend bool operator==(const TypeRecord&, const TypeRecord&) = default;
};

// Written as a mere string where port and tms have their defaults.
struct EdgeRecord {
  std::string from;
  std::uint32_t port = 0;
  std::vector<Tm> tms;
  SourceLoc loc;  // not written
  friend bool operator==(const EdgeRecord&, const EdgeRecord&) = default;
};

struct AttrsRecord {
  AttrMap map;
  friend bool operator==(const AttrsRecord& a, const AttrsRecord& b) { return same_attrs(a.map, b.map); }
};

struct NodeRecord {
  std::string name;
  std::string op;
  std::vector<EdgeRecord> inputs;
  std::vector<TypeRecord> types;
  AttrsRecord attrs;
  std::string value;  // name of a tensor
  FormatWord intermediate;
  FormatWord accumulate;
  std::optional<MathFidelity> fidelity;
  std::map<std::string, std::string> tags;
  std::vector<Origin> origins;
  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

// A tensor's content where it stands in the parsed file: it may be large, and is decoded from there. The writer puts it in by itself.
struct DataView {
  const io::Node* node = nullptr;
  friend bool operator==(const DataView&, const DataView&) = default;
};
struct ValuesView {
  const io::Node* node = nullptr;
  friend bool operator==(const ValuesView&, const ValuesView&) = default;
};

// Exactly one of file, data and values.
struct TensorRecord {
  std::string name;
  DTypeWord dtype;
  std::vector<std::int64_t> shape;
  std::string file;
  std::string tensor;
  std::optional<std::int64_t> offset;
  std::optional<std::int64_t> file_size;
  bool hex = false;
  DataView data;
  ValuesView values;
  friend bool operator==(const TensorRecord&, const TensorRecord&) = default;
};

struct FileRecord {
  std::string name;
  Level level = Level::tensor;
  std::map<std::string, std::string> tags;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<NodeRecord> nodes;
  std::vector<TensorRecord> tensors;
};

const schema::EnumNames<Level>& describe_enum(const Level*);
const schema::EnumNames<MathFidelity>& describe_enum(const MathFidelity*);
const schema::Record<TypeRecord>& describe(const TypeRecord*);
const schema::Record<Origin>& describe(const Origin*);
const schema::Record<NodeRecord>& describe(const NodeRecord*);
const schema::Record<TensorRecord>& describe(const TensorRecord*);
const schema::Record<FileRecord>& describe(const FileRecord*);

}  // namespace buda::graph

namespace buda::schema {

#define BUDA_GRAPH_CODEC(T)                                                \
  template <>                                                              \
  struct Codec<graph::T> {                                                 \
    static void read(const io::Node& node, graph::T& out, Reader& reader); \
    static io::Node write(const graph::T& value);                          \
    static io::Node json_schema();                                         \
  };
BUDA_GRAPH_CODEC(DTypeWord)
BUDA_GRAPH_CODEC(FormatWord)
BUDA_GRAPH_CODEC(EdgeRecord)
BUDA_GRAPH_CODEC(Tm)
BUDA_GRAPH_CODEC(AttrsRecord)
BUDA_GRAPH_CODEC(DataView)
BUDA_GRAPH_CODEC(ValuesView)
#undef BUDA_GRAPH_CODEC

}  // namespace buda::schema
