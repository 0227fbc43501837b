// SPDX-License-Identifier: Apache-2.0
// What each key of a blob file means.
#include <buda/overlay/blob/blob_records.hpp>

#include <buda/base/text.hpp>

namespace buda::schema {
namespace {

// The numbers of a list, or an error.
bool numbers(const io::Node& node, std::size_t min, std::size_t max, const char* what, std::vector<std::int64_t>& out, Reader& reader) {
  if (!node.is_list() || node.size() < min || node.size() > max) {
    reader.error(io::node_error("BB001", node, cat("expected ", what, ", found ", node.describe())));
    return false;
  }
  out.clear();
  for (const auto& item : node.items()) {
    auto v = item.as_int();
    if (!v) {
      reader.error(std::move(v).failure());
      return false;
    }
    out.push_back(*v);
  }
  return true;
}

constexpr std::int64_t kLargest = std::int64_t{1} << 50;

bool small(const io::Node& node, const std::vector<std::int64_t>& values, Reader& reader) {
  for (std::int64_t v : values)
    if (v < 0 || v > (1 << 24)) {
      reader.error(io::node_error("BB001", node, cat("there is no core or stream ", v)));
      return false;
    }
  return true;
}

io::Node numbers_schema() { return detail::list_schema(detail::type_schema("integer")); }

}  // namespace

void Codec<overlay::StreamRef>::read(const io::Node& node, overlay::StreamRef& out, Reader& reader) {
  std::vector<std::int64_t> v;
  if (!numbers(node, 2, 2, "[core, stream]", v, reader) || !small(node, v, reader)) return;
  out = {static_cast<std::int32_t>(v[0]), static_cast<std::int32_t>(v[1])};
}

io::Node Codec<overlay::StreamRef>::write(const overlay::StreamRef& value) {
  return io::Node::list({io::Node::integer(value.core), io::Node::integer(value.stream)});
}

io::Node Codec<overlay::StreamRef>::json_schema() { return numbers_schema(); }

void Codec<overlay::Destination>::read(const io::Node& node, overlay::Destination& out, Reader& reader) {
  std::vector<std::int64_t> v;
  if (!numbers(node, 2, 3, "[core, stream] or [first core, last core, stream]", v, reader) || !small(node, v, reader)) return;
  out.first = {static_cast<std::int32_t>(v.front()), static_cast<std::int32_t>(v.back())};
  out.last_core = static_cast<std::int32_t>(v[v.size() - 2]);
}

io::Node Codec<overlay::Destination>::write(const overlay::Destination& value) {
  io::Node node = io::Node::list({io::Node::integer(value.first.core)});
  if (value.is_multicast()) node.push(io::Node::integer(value.last_core));
  node.push(io::Node::integer(value.first.stream));
  return node;
}

io::Node Codec<overlay::Destination>::json_schema() { return numbers_schema(); }

template <std::size_t N>
void Codec<overlay::Run<N>>::read(const io::Node& node, overlay::Run<N>& out, Reader& reader) {
  bool is_run = node.is_list() && node.size() == 3 && node.items().front().is_list();
  std::vector<std::int64_t> v;
  if (!numbers(is_run ? node.items().front() : node, 1, N, "numbers, or [numbers, count, step]", v, reader)) return;
  out = {};
  for (std::int64_t n : v)
    if (n < -kLargest || n > kLargest) return reader.error(io::node_error("BB002", node, cat(n, " is too large")));
  std::copy(v.begin(), v.end(), out.first.begin());
  if (!is_run) return;
  auto count = node.items()[1].as_int();
  if (!count) return reader.error(std::move(count).failure());
  constexpr std::int64_t kMaxCount = std::int64_t{1} << 24, kMaxStep = std::int64_t{1} << 36;
  if (*count < 2 || *count > kMaxCount)
    return reader.error(io::node_error("BB002", node.items()[1], cat("a run has between 2 and ", kMaxCount, " elements, not ", *count)));
  if (!numbers(node.items()[2], 1, N, "the numbers of a step", v, reader)) return;
  for (std::int64_t s : v)
    if (s < -kMaxStep || s > kMaxStep) return reader.error(io::node_error("BB002", node.items()[2], cat("a step of ", s, " is too large")));
  std::copy(v.begin(), v.end(), out.step.begin());
  out.count = *count;
}

template <std::size_t N>
io::Node Codec<overlay::Run<N>>::write(const overlay::Run<N>& value) {
  auto tuple = [](const auto& t) {
    std::size_t n = N;
    while (n > 1 && t[n - 1] == 0) --n;
    io::Node node = io::Node::list();
    for (std::size_t i = 0; i < n; ++i) node.push(io::Node::integer(t[i]));
    return node;
  };
  if (value.count == 1) return tuple(value.first);
  return io::Node::list({tuple(value.first), io::Node::integer(value.count), tuple(value.step)});
}

template <std::size_t N>
io::Node Codec<overlay::Run<N>>::json_schema() {
  return detail::list_schema(io::Node::map());
}

template struct Codec<overlay::Run<2>>;
template struct Codec<overlay::Run<5>>;

}  // namespace buda::schema

namespace buda::overlay {

using schema::Record;

const schema::EnumNames<StreamKind>& describe_enum(const StreamKind*) {
  static const auto names = [] {
    schema::EnumNames<StreamKind> out;
    for (StreamKind k : {StreamKind::multicast, StreamKind::relay, StreamKind::input, StreamKind::output, StreamKind::intermediate,
                         StreamKind::fork, StreamKind::store})
      out.emplace_back(k, std::string(stream_kind_name(k)));
    return out;
  }();
  return names;
}

const Record<DramBuffer>& describe(const DramBuffer*) {
  using D = DramBuffer;
  static const auto record = Record<D>("a buffer in DRAM or host memory")
                                 .required("queue", &D::queue, "the queue; of padding, the op")
                                 .required("id", &D::id, "id in the pipegen file")
                                 .optional("chip", &D::chip, "chip")
                                 .optional("channel", &D::channel, "DRAM channel, or channel of host memory")
                                 .optional("host", &D::host, "in host memory")
                                 .optional("padding", &D::padding, "a constant, thirteen equal tiles without a header")
                                 .required("port", &D::port, "place on the NoC at which it is reached")
                                 .required("address", &D::address, "bytes, of the header, as seen at the port")
                                 .optional("slots", &D::slots, "entries of the queue")
                                 .required("entry_tiles", &D::entry_tiles, "tiles of an entry")
                                 .required("tile_bytes", &D::tile_bytes, "bytes of a tile")
                                 .optional("ram", &D::ram, "a ram: random access, no flow control");
  return record;
}

const Record<ReadBuffer>& describe(const ReadBuffer*) {
  static const auto record = Record<ReadBuffer>("a buffer that is read")
                                 .required("dram", &ReadBuffer::dram, "index in `dram`")
                                 .optional("reader", &ReadBuffer::reader, "number of this pipe among the readers")
                                 .optional("readers", &ReadBuffer::readers, "pipes that read the buffer");
  return record;
}

const Record<RowLookup>& describe(const RowLookup*) {
  static const auto record = Record<RowLookup>("rows of a table, picked by numbers")
                                 .required("stream", &RowLookup::stream, "stream of this core whose tiles hold the numbers")
                                 .required("numbers_per_tile", &RowLookup::numbers_per_tile, "numbers in a tile")
                                 .required("row_tiles", &RowLookup::row_tiles, "tiles of a row of the table");
  return record;
}

const Record<DramRead>& describe(const DramRead*) {
  static const auto record = Record<DramRead>("what a stream reads from DRAM")
                                 .required("buffers", &DramRead::buffers, "where from")
                                 .required("block_tiles", &DramRead::block_tiles, "tiles of a block, which are contiguous")
                                 .required("chunk_tiles", &DramRead::chunk_tiles, "tiles that are asked for at once")
                                 .optional("before_epoch", &DramRead::before_epoch, "read once, before the epoch, and kept")
                                 .required("blocks", &DramRead::blocks, "[index in `buffers`, first tile] of each block of a pass")
                                 .optional("lookup", &DramRead::lookup, "of a table: how rows are picked");
  return record;
}

const Record<RowWrite>& describe(const RowWrite*) {
  using R = RowWrite;
  static const auto record = Record<R>("rows of an output without tiles; bytes")
                                 .optional("offset", &R::offset, "of the first row in the entry")
                                 .required("row_bytes", &R::row_bytes, "what this core has of a row")
                                 .required("pitch", &R::pitch, "from row to row")
                                 .required("rows", &R::rows, "rows of a t")
                                 .required("planes", &R::planes, "ts")
                                 .required("plane_pitch", &R::plane_pitch, "from t to t")
                                 .required("tile_rows", &R::tile_rows, "datums of a tile, down")
                                 .required("tile_cols", &R::tile_cols, "and across")
                                 .required("tiles_across", &R::tiles_across, "tiles of this core in a row");
  return record;
}

const Record<DramWrite>& describe(const DramWrite*) {
  static const auto record = Record<DramWrite>("where a stream writes")
                                 .required("dram", &DramWrite::dram, "index in `dram`")
                                 .required("chunk_tiles", &DramWrite::chunk_tiles, "tiles written at once")
                                 .optional("after_epoch", &DramWrite::after_epoch, "written once, after the epoch")
                                 .optional("rows", &DramWrite::rows, "of an output without tiles: its rows");
  return record;
}

const Record<PcieWrite>& describe(const PcieWrite*) {
  static const auto record = Record<PcieWrite>("how a stream sends to another chip over PCIe")
                                 .required("port", &PcieWrite::port, "place on the NoC at which the other chip is reached")
                                 .required("address", &PcieWrite::address, "of the receiver's buffer, as seen at the port")
                                 .required("chunk_tiles", &PcieWrite::chunk_tiles, "tiles written at once");
  return record;
}

const Record<Stream>& describe(const Stream*) {
  static const auto record =
      Record<Stream>("a stream")
          .required("stream", &Stream::number, "its number in the core")
          .required("kind", &Stream::kind, "what it is for")
          .required("operand", &Stream::operand, "operand of the kernel")
          .optional("buffer", &Stream::buffer, "buffer of the pipegen file")
          .optional("pipe", &Stream::pipe, "pipe by which it sends or reads")
          .required("address", &Stream::address, "of its buffer in L1")
          .required("bytes", &Stream::bytes, "of its buffer")
          .required("message", &Stream::message_bytes, "bytes of a message: a tile")
          .optional("scattered", &Stream::scattered, "phases say where in the buffer they begin")
          .optional("firmware", &Stream::firmware, "the firmware of the ethernet core carries the tiles over the link")
          .optional("window_tiles", &Stream::window_tiles, "tiles that a scattered output hands out in a pass")
          .optional("ids_per_pass", &Stream::ids_per_pass, "phase ids of a pass")
          .optional("passes", &Stream::passes, "passes of an iteration")
          .optional("fork_of", &Stream::fork_of, "stream with whose buffer it sends")
          .optional("noc_in", &Stream::noc_in, "network by which messages arrive")
          .optional("noc_out", &Stream::noc_out, "and leave")
          .optional("vc", &Stream::vc, "virtual channel by which they leave")
          .optional("from", &Stream::sources, "[core, stream] of senders")
          .optional("to", &Stream::destinations, "[core, stream] of receivers, [first core, last core, stream] of multicasts")
          .optional("read", &Stream::read, "what it reads from DRAM")
          .optional("write", &Stream::write, "where it writes")
          .optional("pcie", &Stream::pcie, "how it sends, if its receiver is on another chip that is reached over PCIe")
          .optional("iterations", &Stream::iterations, "how often the phases are gone through")
          .optional("phases", &Stream::phases, "[id, messages, index in `from`, index in `to`, first tile in the buffer]");
  return record;
}

const Record<TileHeaders>& describe(const TileHeaders*) {
  static const auto record = Record<TileHeaders>("headers of tiles of one size")
                                 .required("tile_bytes", &TileHeaders::tile_bytes, "the size")
                                 .required("address", &TileHeaders::address, "in L1");
  return record;
}

const Record<Core>& describe(const Core*) {
  static const auto record = Record<Core>("a core")
                                 .optional("chip", &Core::chip, "chip")
                                 .required("core", &Core::core, "logical row and column; of an ethernet core, those of the NoC")
                                 .optional("ethernet", &Core::ethernet, "channel of an ethernet core")
                                 .required("noc", &Core::noc, "place on the NoC")
                                 .optional("op", &Core::op, "the op whose kernels run here")
                                 .optional("blob_bytes", &Core::blob_bytes, "room for the stream program")
                                 .optional("headers", &Core::headers, "headers of tiles, by size")
                                 .required("streams", &Core::streams, "streams by number");
  return record;
}

const Record<Blob>& describe(const Blob*) {
  static const auto record =
      Record<Blob>("stream programs", {"buda.blob", 1})
          .required("arch", &Blob::arch, "architecture")
          .required("device", &Blob::device, "device for which they were made")
          .required("graphs", &Blob::graphs, "graphs of the epoch")
          .required("dram", &Blob::dram, "buffers in DRAM and host memory")
          .required("cores", &Blob::cores, "workers by chip, row and column, then ethernet cores by chip and channel");
  return record;
}

}  // namespace buda::overlay
