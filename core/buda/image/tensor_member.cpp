// SPDX-License-Identifier: Apache-2.0
// Tensors to bytes and back.
#include "buda/image/tensor_member.hpp"

#include <buda/arith/host_tensor.hpp>
#include <buda/base/text.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/tensor/files/npy.hpp>
#include <buda/tensor/files/safetensors.hpp>
#include <buda/tensor/formats/tile_layout.hpp>
#include <buda/tensor/tensor.hpp>

#include <memory>
#include <vector>

namespace buda::image {
namespace {

constexpr const char* kTensorName = "tensor";  // in a safetensors file of one

Result<void> describe_tensor(const std::string& name, const Tensor& tensor, TensorEntry& entry) {
  auto format = host_format(tensor.dtype());
  if (!format)
    return input_error(
        "IM007", {},
        cat("parameter for queue '", name, "': elements of type ", dtype_name(tensor.dtype()), " cannot be stored in an image"));
  entry.itemsize = static_cast<std::int64_t>(dtype_size(tensor.dtype()));
  entry.shape = tensor.shape().dims();
  for (auto stride : tensor.shape().strides()) entry.strides.push_back(stride * entry.itemsize);
  entry.dim = static_cast<std::int64_t>(tensor.shape().rank());
  entry.format = *format;
  return success();
}

bool can_be_tilized(const netlist::Queue* queue, const Tensor& tensor) {
  return queue != nullptr && queue->layout == netlist::QueueLayout::tilized && is_float(queue->format) && is_float(tensor.dtype());
}

// Where the tiles of a queue lie: calls `visit` with the tile's bytes' offset behind the queue's first byte, its entry, t, and the row and
// column of its first datum. Buffers follow each other without headers.
template <class Visit>
void for_each_tile(const netlist::Queue& q, Visit visit) {
  const netlist::BlockShape& b = q.block;
  const auto tile = static_cast<std::size_t>(tile_bytes(q.format, q.tile_dim));
  std::size_t at = 0;
  for (std::int64_t gr = 0; gr < q.grid.rows; ++gr)
    for (std::int64_t gc = 0; gc < q.grid.cols; ++gc)
      for (std::int64_t entry = 0; entry < q.entries; ++entry)
        for (std::int64_t t = 0; t < b.t; ++t)
          for (std::int64_t u = 0; u < std::int64_t{b.mblock_m} * b.mblock_n; ++u) {
            const bool by_row = q.ublock_order == netlist::UblockOrder::r;
            const std::int64_t ur = by_row ? u / b.mblock_n : u % b.mblock_m, uc = by_row ? u % b.mblock_n : u / b.mblock_m;
            for (std::int64_t r = 0; r < b.ublock_rt; ++r)
              for (std::int64_t c = 0; c < b.ublock_ct; ++c, at += tile)
                visit(at, entry, t, ((gr * b.mblock_m + ur) * b.ublock_rt + r) * q.tile_dim.rows,
                      ((gc * b.mblock_n + uc) * b.ublock_ct + c) * q.tile_dim.cols);
          }
}

Shape queue_shape(const netlist::Queue& q) {
  const netlist::TileShape tiles = q.shape();
  return Shape{q.entries, tiles.t, tiles.rt * q.tile_dim.rows, tiles.ct * q.tile_dim.cols};
}

struct TilizedSize {
  std::int64_t buffers = 0, bytes = 0;  // of each
};
TilizedSize tilized_size(const netlist::Queue& q) {
  return {q.grid.volume(), static_cast<std::int64_t>(netlist::entry_bytes(q)) * q.entries};
}

Result<std::string> tilize(const Tensor& tensor, const netlist::Queue& q) {
  BUDA_ASSIGN(const auto entries, arith::entries_from(tensor, q, arith::Mode::exact));
  const Tensor rounded = arith::tensor_from(entries, q);
  const TilizedSize size = tilized_size(q);
  std::string out(static_cast<std::size_t>(size.buffers * size.bytes), '\0');
  const TileLayout layout{q.format, q.tile_dim};
  BUDA_TRY(layout.check());
  const Shape shape = queue_shape(q);
  const auto cols = static_cast<std::size_t>(shape[3]);
  const auto values = rounded.as<float>();
  for_each_tile(q, [&](std::size_t at, std::int64_t entry, std::int64_t t, std::int64_t r, std::int64_t c) {
    const auto first = static_cast<std::size_t>(((entry * shape[1] + t) * shape[2] + r) * shape[3] + c);
    pack_tile(layout, values.data() + first, cols, out.data() + at);
  });
  return out;
}

class EntryReader {
 public:
  EntryReader(const std::string& name, const TensorEntry& entry, const Members& members) : name_(name), entry_(entry), members_(members) {}

  Diagnostic wrong(const std::string& why) const {
    return input_error("IM007", {"device.json"}, cat("tensor for queue '", name_, "': ", why));
  }

  Result<Tensor> raw() const {
    BUDA_ASSIGN(const DType dtype, checked_type());
    BUDA_ASSIGN(const io::Bytes bytes, member());
    Shape shape(entry_.shape);
    auto size = tensor_bytes(dtype, shape);
    if (!size || static_cast<std::uint64_t>(*size) != bytes.size())
      return wrong(
          cat("member '", entry_.bin, "' has ", bytes.size(), " bytes, the shape ", shape.text(), " needs ", size ? cat(*size) : "more"));
    return Tensor::from_bytes(dtype, std::move(shape), bytes);
  }

  Result<Tensor> in_file_format() const {
    BUDA_ASSIGN(const DType dtype, checked_type());
    BUDA_ASSIGN(const io::Bytes bytes, member());
    Tensor tensor;
    if (entry_.bin.ends_with(".npy")) {
      BUDA_ASSIGN(tensor, parse_npy(bytes, entry_.bin));
    } else {
      BUDA_ASSIGN(auto tensors, parse_safetensors(bytes, entry_.bin));
      if (tensors.size() != 1) return wrong(cat("member '", entry_.bin, "' has ", tensors.size(), " tensors, not one"));
      tensor = std::move(tensors.begin()->second);
    }
    // NumPy has no bfloat16: there its bits are 16-bit numbers.
    if (dtype == DType::bf16 && tensor.dtype() == DType::u16) {
      BUDA_ASSIGN(tensor, Tensor::from_bytes(dtype, tensor.shape(), io::Bytes(std::string(tensor.bytes()))));
    }
    if (tensor.dtype() != dtype || tensor.shape() != Shape(entry_.shape))
      return wrong(
          cat("member '", entry_.bin, "' is ", tensor.describe(), ", the entry says ", dtype_name(dtype), ' ', Shape(entry_.shape).text()));
    return tensor;
  }

  Result<Tensor> tilized(const netlist::Queue* queue) const {
    if (queue == nullptr) return wrong("it is tilized, and the netlist has no such queue");
    if (entry_.format != format_name(queue->format))
      return wrong(cat("its tiles are ", entry_.format, ", the queue's are ", format_name(queue->format)));
    if (!is_float(queue->format) || queue->layout != netlist::QueueLayout::tilized) return wrong("tiles of such a queue are not supported");
    BUDA_ASSIGN(const io::Bytes bytes, member());
    const TilizedSize size = tilized_size(*queue);
    const std::int64_t said = entry_.buf_size_bytes.value_or(entry_.buffer_size_bytes.value_or(0));
    if (entry_.num_buffers.value_or(0) != size.buffers || said != size.bytes)
      return wrong(
          cat("it has ", entry_.num_buffers.value_or(0), " buffers of ", said, " bytes, the queue has ", size.buffers, " of ", size.bytes));
    if (Shape(entry_.shape) != queue_shape(*queue))
      return wrong(cat("its shape is ", Shape(entry_.shape).text(), ", the queue's is ", queue_shape(*queue).text()));
    if (bytes.size() != static_cast<std::uint64_t>(size.buffers * size.bytes))
      return wrong(
          cat("member '", entry_.bin, "' has ", bytes.size(), " bytes, ", size.buffers, " buffers of ", size.bytes, " are needed"));
    return untilize(bytes.view(), *queue);
  }

 private:
  Result<DType> checked_type() const {
    auto dtype = dtype_of_host_format(entry_.format);
    if (!dtype) return wrong(cat("format '", entry_.format, "' is not one that a host tensor can have"));
    if (entry_.itemsize != static_cast<std::int64_t>(dtype_size(*dtype)))
      return wrong(cat("an itemsize of ", entry_.itemsize, " does not belong to ", entry_.format));
    Shape shape(entry_.shape);
    if (entry_.dim != static_cast<std::int64_t>(entry_.shape.size()))
      return wrong(cat("dim is ", entry_.dim, ", but the shape is ", shape.text()));
    if (!tensor_bytes(*dtype, shape)) return wrong(cat("the shape ", shape.text(), " has no volume"));
    std::vector<std::int64_t> strides;
    for (auto stride : shape.strides()) strides.push_back(stride * entry_.itemsize);
    if (strides != entry_.strides)
      return wrong(cat("strides are ", list_text(entry_.strides), ", row-major ones would be ", list_text(strides)));
    return *dtype;
  }

  Result<io::Bytes> member() const {
    auto found = members_.find(entry_.bin);
    if (found == members_.end()) return wrong(cat("member '", entry_.bin, "' is missing"));
    return found->second;
  }

  static Result<Tensor> untilize(std::string_view bytes, const netlist::Queue& q) {
    const TileLayout layout{q.format, q.tile_dim};
    BUDA_TRY(layout.check());
    const Shape shape = queue_shape(q);
    if (!tensor_bytes(DType::f32, shape)) return input_error("IM007", {}, cat("queue '", q.name, "' is too large"));
    std::vector<float> values(static_cast<std::size_t>(*tensor_bytes(DType::f32, shape)) / sizeof(float));
    for_each_tile(q, [&](std::size_t at, std::int64_t entry, std::int64_t t, std::int64_t r, std::int64_t c) {
      const auto first = static_cast<std::size_t>(((entry * shape[1] + t) * shape[2] + r) * shape[3] + c);
      unpack_tile(layout, bytes.data() + at, values.data() + first, static_cast<std::size_t>(shape[3]));
    });
    return Tensor(shape, std::move(values));
  }

  const std::string& name_;
  const TensorEntry& entry_;
  const Members& members_;
};

Result<io::Bytes> safetensors_bytes(const Tensor& tensor) {
  io::MemoryFileSystem files;
  BUDA_ASSIGN(auto out, files.create("t", io::WriteMode::always));
  BUDA_TRY(write_safetensors(*out, {{kTensorName, tensor}}));
  BUDA_TRY(out->commit());
  return files.read("t");
}

}  // namespace

Result<StoredTensor> store_tensor(const std::string& name, const Tensor& tensor, const netlist::Queue* queue, TensorStore store,
                                  const std::string& stem) {
  StoredTensor out;
  BUDA_TRY(describe_tensor(name, tensor, out.entry));
  if (store == TensorStore::tilized && can_be_tilized(queue, tensor) && tensor.shape() == queue_shape(*queue)) {
    BUDA_ASSIGN(auto tiles, tilize(tensor, *queue));
    out.entry.bin = stem + ".tbin";
    out.entry.format = format_name(queue->format);
    out.entry.num_buffers = tilized_size(*queue).buffers;
    out.entry.buf_size_bytes = tilized_size(*queue).bytes;
    out.bytes = io::Bytes(std::move(tiles));
  } else if (store == TensorStore::npy) {
    out.entry.bin = stem + ".npy";
    out.bytes = io::Bytes(npy_header(tensor).append(tensor.bytes()));
  } else if (store == TensorStore::safetensors) {
    out.entry.bin = stem + ".safetensors";
    BUDA_ASSIGN(out.bytes, safetensors_bytes(tensor));
  } else {
    out.entry.bin = stem + ".bin";
    // The view keeps its tensor alive.
    out.bytes = io::Bytes(std::make_shared<Tensor>(tensor), tensor.bytes());
  }
  return out;
}

Result<Tensor> tensor_of_entry(const std::string& name, const TensorEntry& entry, const Members& members, const netlist::Queue* queue) {
  const EntryReader reader(name, entry, members);
  if (is_tilized(entry)) return reader.tilized(queue);
  if (entry.bin.ends_with(".npy") || entry.bin.ends_with(".safetensors")) return reader.in_file_format();
  if (entry.bin.ends_with(".pkl") || entry.bin.ends_with(".pickle"))
    return reader.wrong(cat("member '", entry.bin, "' is pickled: pickles are programs, and none is executed here"));
  return reader.raw();
}

bool is_tilized(const TensorEntry& entry) { return entry.bin.ends_with(".tbin"); }

}  // namespace buda::image
