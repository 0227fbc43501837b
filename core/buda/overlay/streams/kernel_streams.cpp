// SPDX-License-Identifier: Apache-2.0
// One stream per operand.
#include <buda/overlay/streams/kernel_streams.hpp>

#include <buda/base/text.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

// The streams that a worker has for a kind of operands.
struct OperandStreams {
  StreamKind kind = StreamKind::input;
  std::int32_t operand = 0;    // among those of the kind
  std::int32_t available = 0;  // streams
  std::int32_t number = 0;     // of the stream
};

OperandStreams operand_streams(const Buffer& b, const device::StreamLimits& limits) {
  if (b.type == BufferType::unpacker)
    return {StreamKind::input, b.operand, limits.first_output - limits.first_input, limits.input(b.operand)};
  if (b.type == BufferType::packer) {
    const std::int32_t operand = b.operand - pipes::kOutputOperand;
    return {StreamKind::output, operand, limits.first_intermediate - limits.first_output, limits.first_output + operand};
  }
  const std::int32_t operand = b.operand - pipes::kIntermediateOperand;
  return {StreamKind::intermediate, operand, limits.first_extra - limits.first_intermediate, limits.first_intermediate + operand};
}

// A gradient's ram: read before the epoch, written back after it.
void add_gradient(const EpochInput& in, const Buffer& b, Stream& stream, DramTable& dram, Violations& violations) {
  const std::int64_t tiles = buffer_tiles(b, in.buffers);
  if (tiles < 1) return violations.error("OV002", nullptr, &b, cat("buffer_", b.id, " has no tiles"));
  const std::int32_t index = dram.index_of(b);
  if (b.dram_buf_flag) {
    DramRead read;
    read.before_epoch = true;
    read.buffers.push_back({index, 0, 1});
    read.block_tiles = read.chunk_tiles = tiles;
    read.blocks.push_back({{0, 0}, {}, 1});
    stream.read = std::move(read);
  }
  if (b.write_dram_buf_flag) stream.write = DramWrite{index, tiles, true, std::nullopt};
}

std::optional<StreamRef> take_operand_stream(const Buffer& b, const EpochInput& in, const CoreMap& cores, StreamPool& pool,
                                             Violations& violations) {
  const OperandStreams o = operand_streams(b, in.device.streams);
  const StreamRef ref{cores.of(b), o.number};
  auto refuse = [&](const std::string& why) {
    violations.error("OV002", nullptr, &b, why);
    return std::nullopt;
  };
  if (ref.core < 0) return refuse(cat("buffer_", b.id, " is in no core"));
  if (o.operand < 0 || o.operand >= o.available)
    return refuse(cat("operand ", b.operand, " has no stream; '", in.device.name, "' has ", o.available, " for this kind of operand"));
  if (is_on_ethernet(b)) {
    const std::string user = cat("op '", b.op, "'");
    return o.kind == StreamKind::input ? pool.take_link(ref.core, o.kind, user) : pool.take_ethernet(ref.core, o.kind, user);
  }
  if (pool.add(ref, o.kind) == nullptr) return refuse(cat("core [", b.core.row, ", ", b.core.col, "] has this operand twice"));
  return ref;
}

// Operands in the same memory have the same size. On Ethernet cores that is the size of one of them: files differ in the other.
void equalize_shared_buffers(const EpochInput& in, const KernelStreams& kernel, StreamPool& pool) {
  for (const Buffer& b : in.graph.buffers) {
    const StreamRef *one = kernel.find(b.id), *other = kernel.find(b.buffer_space_shared.value_or(0));
    if (one == nullptr || other == nullptr || one->core != other->core) continue;
    Stream &a = pool[*one], &c = pool[*other];
    a.bytes = c.bytes = is_on_ethernet(b) ? a.bytes : std::max(a.bytes, c.bytes);
  }
}

}  // namespace

const StreamRef* KernelStreams::find(Id buffer) const {
  auto it = by_buffer.find(buffer);
  return it == by_buffer.end() ? nullptr : &it->second;
}

KernelStreams make_kernel_streams(const EpochInput& in, const CoreMap& cores, StreamPool& pool, DramTable& dram, Violations& violations) {
  KernelStreams out;
  out.program_bytes.resize(cores.cores().size());
  for (const Buffer& b : in.graph.buffers) {
    if (!is_of_kernel(b)) continue;
    const auto ref = take_operand_stream(b, in, cores, pool, violations);
    if (!ref) continue;
    Stream& s = pool[*ref];
    s.operand = b.operand;
    s.buffer = b.id;
    s.message_bytes = b.tile_size;
    s.bytes = bytes_of(buffer_tiles(b, in.buffers), b.tile_size);
    out.by_buffer[b.id] = *ref;
    if (b.type == BufferType::gradient_op && (b.dram_buf_flag || b.write_dram_buf_flag)) add_gradient(in, b, s, dram, violations);
    if (b.overlay_blob_size <= 0) continue;
    auto& program_bytes = out.program_bytes[static_cast<std::size_t>(ref->core)];
    program_bytes = std::max<std::int64_t>(program_bytes.value_or(0), b.overlay_blob_size);
  }
  equalize_shared_buffers(in, out, pool);
  return out;
}

}  // namespace buda::overlay
