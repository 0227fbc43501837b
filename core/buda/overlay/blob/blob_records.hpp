// SPDX-License-Identifier: Apache-2.0
// The field tables of buda.blob/1. Internal to the module.
#pragma once

#include <buda/device/format.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/schema/record.hpp>

namespace buda::schema {

// [core, stream]
template <>
struct Codec<overlay::StreamRef> {
  static void read(const io::Node& node, overlay::StreamRef& out, Reader& reader);
  static io::Node write(const overlay::StreamRef& value);
  static io::Node json_schema();
};

// [core, stream], or [first core, last core, stream].
template <>
struct Codec<overlay::Destination> {
  static void read(const io::Node& node, overlay::Destination& out, Reader& reader);
  static io::Node write(const overlay::Destination& value);
  static io::Node json_schema();
};

// One tuple: its numbers, without zeros at the end. A run: [tuple, count, step].
template <std::size_t N>
struct Codec<overlay::Run<N>> {
  static void read(const io::Node& node, overlay::Run<N>& out, Reader& reader);
  static io::Node write(const overlay::Run<N>& value);
  static io::Node json_schema();
};
extern template struct Codec<overlay::Run<2>>;
extern template struct Codec<overlay::Run<5>>;

}  // namespace buda::schema

namespace buda::overlay {

const schema::EnumNames<StreamKind>& describe_enum(const StreamKind*);
const schema::Record<DramBuffer>& describe(const DramBuffer*);
const schema::Record<ReadBuffer>& describe(const ReadBuffer*);
const schema::Record<RowLookup>& describe(const RowLookup*);
const schema::Record<DramRead>& describe(const DramRead*);
const schema::Record<RowWrite>& describe(const RowWrite*);
const schema::Record<DramWrite>& describe(const DramWrite*);
const schema::Record<PcieWrite>& describe(const PcieWrite*);
const schema::Record<Stream>& describe(const Stream*);
const schema::Record<TileHeaders>& describe(const TileHeaders*);
const schema::Record<Core>& describe(const Core*);
const schema::Record<Blob>& describe(const Blob*);

}  // namespace buda::overlay
