// Reading and writing of queues.
//
// A read list has the blocks of one pass, which is one entry of each queue. Blocks are as long as the pipegen file has them, or a part of
// that where the buffer they go to is smaller. What is asked for at once is at most half of that buffer, so that reading and consuming
// overlap.
#include <buda/overlay/builder.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>

namespace buda::overlay {
namespace {

constexpr std::int64_t kMostBytesRead = 65536;  // at once, before the epoch
constexpr std::int64_t kMostBytesWritten = 80 * 1024;
constexpr std::int64_t kMostReads = std::int64_t{1} << 22;  // of a block; no L1 holds a list as long

}  // namespace

std::int64_t divisor_up_to(std::int64_t n, std::int64_t most) {
  std::int64_t best = 1;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    if (d <= most) best = std::max(best, d);
    if (n / d <= most) best = std::max(best, n / d);
  }
  return best;
}

std::int32_t Builder::dram_index(const Buffer& b) {
  auto [it, fresh] = dram_index_.emplace(b.id, static_cast<std::int32_t>(blob_.dram.size()));
  if (!fresh) return it->second;
  DramBuffer d;
  d.queue = b.op;
  d.id = b.id;
  d.chip = b.chip;
  d.channel = b.dram_chan;
  d.host = b.dram_io_flag_is_remote != 0;
  d.padding = b.is_padding;
  d.address = b.dram_addr;
  d.slots = b.q_slots;
  d.entry_tiles = b.is_padding                        ? 1
                  : b.type == BufferType::gradient_op ? buffer_tiles(b)
                  : b.tiles_per_input > 0             ? b.tiles_per_input
                                                      : b.window_tiles();
  d.tile_bytes = b.tile_size;
  d.ram = b.dram_ram_flag;
  const auto& channels = device_.dram.channels;
  if (d.host) {
    if (!device_.pcie)
      error("OV003", nullptr, &b, cat("buffer_", b.id, " is in host memory, and device '", device_.name, "' does not say where pcie is"));
    d.port = device_.pcie.value_or(device::NocCoord{});
  } else if (b.dram_chan < 0 || static_cast<std::size_t>(b.dram_chan) >= channels.size()) {
    error("OV010", nullptr, &b, cat("buffer_", b.id, " is in DRAM channel ", b.dram_chan, "; '", device_.name, "' has ", channels.size()));
  } else {
    const auto& ports = channels[static_cast<std::size_t>(b.dram_chan)].ports;
    if (b.dram_sub_chan < 0 || static_cast<std::size_t>(b.dram_sub_chan) >= ports.size()) {
      error("OV010", nullptr, &b,
            cat("buffer_", b.id, " is read at port ", b.dram_sub_chan, " of DRAM channel ", b.dram_chan, ", which has ", ports.size()));
    } else {
      d.port = ports[static_cast<std::size_t>(b.dram_sub_chan)];
    }
  }
  blob_.dram.push_back(std::move(d));
  return it->second;
}

// Readers of a buffer free its slots together. Files count pipes that share their reads as one; here those that do not are numbered, too.
void Builder::number_readers() {
  bool shared = std::any_of(graph_.pipes.begin(), graph_.pipes.end(), [](const Pipe& p) { return p.dram_num_forks > 1; });
  if (!shared) return;
  for (const Pipe& pipe : graph_.pipes) {
    if (!pipe.reads_dram() || served_.contains(pipe.id)) continue;
    for (Id block : pipe.inputs) {
      const Buffer* b = index_.find(block);
      if (b != nullptr && b->is_queue() && own_readers_.emplace(std::pair{pipe.id, b->id}, own_reader_count_[b->id]).second)
        ++own_reader_count_[b->id];
    }
  }
}

void Builder::make_read(const PipePlan& plan, Stream& stream, const Buffer& target, std::int64_t room) {
  if (plan.before_epoch && plan.pass_tiles > room)
    return error("OV002", plan.pipe, &target,
                 cat("it brings ", plan.pass_tiles, " tiles before the epoch, and the buffer has room for ", room));
  DramRead read;
  read.before_epoch = plan.before_epoch;
  for (const Buffer* b : plan.buffers) {
    ReadBuffer r{dram_index(*b), 0, 1};
    if (auto own = own_readers_.find({plan.pipe->id, b->id}); own != own_readers_.end()) {
      r.reader = own->second;
      r.readers = own_reader_count_[b->id];
      read.buffers.push_back(r);
      continue;
    }
    for (std::size_t i = 0; i < plan.pipe->inputs.size() && i < plan.pipe->dram_reader_index.size(); ++i) {
      if (pipes::base_id(plan.pipe->inputs[i]) != pipes::base_id(b->id)) continue;
      r.reader = plan.pipe->dram_reader_index[i];
      if (i < plan.pipe->dram_total_readers.size()) r.readers = plan.pipe->dram_total_readers[i];
      break;
    }
    read.buffers.push_back(r);
  }
  std::int64_t block = 0;
  for (const Block& b : plan.blocks) block = std::gcd(block, b.tiles);
  block = divisor_up_to(block, std::max<std::int64_t>(room, 1));
  for (const Block& b : plan.blocks) {
    bool padding = plan.buffers[static_cast<std::size_t>(b.source)]->is_padding;
    if (b.tiles / block > kMostReads)
      return error("OV002", plan.pipe, &target,
                   cat("it reads ", b.tiles, " tiles in pieces of ", block, ", which are more than ", kMostReads));
    for (std::int64_t at = 0; at < b.tiles; at += block) append<2>(read.blocks, {b.source, padding ? 0 : b.offset + at});
  }
  read.block_tiles = block;
  read.lookup = lookup_of(plan);
  const ReadSteps steps = read_steps(plan, read, room);
  const std::int64_t half = plan.before_epoch ? plan.pass_tiles : room / 2;
  read.chunk_tiles = steps.least * divisor_up_to(steps.all / steps.least, std::max<std::int64_t>(half / steps.least, 1));
  stream.read = std::move(read);
}

// The whole buffer as it lies in DRAM; or a share, in the order in which its pipe brings it.
void Builder::make_stored_read(const Buffer& b, Stream& stream) {
  if (b.type == BufferType::prolog_relay) {
    auto feeds = feeds_.find(b.id);
    if (feeds == feeds_.end() || feeds->second.size() != 1)
      return error("OV002", nullptr, &b, cat("buffer_", b.id, " is not filled by one pipe"));
    const PipePlan& plan = plans_[feeds->second.front()];
    if (plan.pass_tiles != buffer_tiles(b))
      return error("OV002", plan.pipe, &b, cat("it brings ", plan.pass_tiles, " tiles to a share of ", buffer_tiles(b)));
    stream.noc_in = plan.pipe->incoming_noc;
    return make_read(plan, stream, b, buffer_tiles(b));
  }
  DramRead read;
  read.before_epoch = true;
  read.buffers.push_back({dram_index(b), 0, 1});
  std::int64_t tiles = b.window_tiles();
  read.block_tiles = b.is_padding ? tiles : divisor_up_to(tiles, std::max<std::int64_t>(kMostBytesRead / std::max(b.tile_size, 1), 1));
  read.chunk_tiles = read.block_tiles;
  read.blocks.push_back({{0, 0}, {}, 1});
  if (std::int64_t blocks = tiles / read.block_tiles; blocks > 1) read.blocks.front() = {{0, 0}, {0, read.block_tiles}, blocks};
  stream.read = std::move(read);
}

// A gradient's ram: read before the epoch, written back after it.
void Builder::make_gradient(const Buffer& b, Stream& stream) {
  std::int64_t tiles = buffer_tiles(b);
  if (tiles < 1) return error("OV002", nullptr, &b, cat("buffer_", b.id, " has no tiles"));
  std::int32_t dram = dram_index(b);
  if (b.dram_buf_flag) {
    DramRead read;
    read.before_epoch = true;
    read.buffers.push_back({dram, 0, 1});
    read.block_tiles = read.chunk_tiles = tiles;
    read.blocks.push_back({{0, 0}, {}, 1});
    stream.read = std::move(read);
  }
  if (b.write_dram_buf_flag) stream.write = DramWrite{dram, tiles, true, std::nullopt};
}

// The part of the rows that one core of an untilized output has: cores stand in the pipe's list row by row.
std::optional<RowWrite> Builder::rows_of(const PipePlan& plan, std::size_t source) {
  const Buffer& b = *plan.buffers[source];
  const auto& u = b.untilized;
  std::int64_t rows = u.tile_rows > 0 ? u.tile_rows : 32, cols = u.tile_cols > 0 ? u.tile_cols : 32;
  bool sound = u.r > 0 && u.c > 0 && u.full_r % u.r == 0 && u.full_c % u.c == 0 && b.tile_size % (rows * cols) == 0 &&
               std::int64_t{u.full_r / u.r} * (u.full_c / u.c) == static_cast<std::int64_t>(plan.buffers.size());
  if (!sound) {
    error("OV002", plan.pipe, &b,
          cat("an output without tiles of ", u.full_r, " x ", u.full_c, " tiles, ", u.r, " x ", u.c,
              " of them in each core, cannot come from ", plan.buffers.size(), plan.buffers.size() == 1 ? " core" : " cores",
              " with tiles of ", b.tile_size, " bytes"));
    return std::nullopt;
  }
  std::int64_t datum = b.tile_size / (rows * cols), across = u.full_c / u.c;
  RowWrite w;
  w.row_bytes = u.c * cols * datum;
  w.pitch = u.full_c * cols * datum;
  w.rows = u.r * rows;
  w.planes = std::max(u.z, 1);
  w.plane_pitch = u.full_r * rows * w.pitch;
  w.offset = static_cast<std::int64_t>(source) / across * w.rows * w.pitch + static_cast<std::int64_t>(source) % across * w.row_bytes;
  w.tile_rows = static_cast<std::int32_t>(rows);
  w.tile_cols = static_cast<std::int32_t>(cols);
  w.tiles_across = u.c;
  return w;
}

void Builder::make_write(const PipePlan& plan, Stream& stream, std::size_t source, const Buffer& queue) {
  if (stream.write) return unsupported(plan.pipe, &queue, "a relay buffer that is written to several queue buffers");
  DramWrite write;
  write.dram = dram_index(queue);
  std::int64_t tiles = 0;
  for (const Block& b : plan.blocks) tiles = std::gcd(tiles, b.tiles);
  for (const Part& p : plan.parts) tiles = std::gcd(tiles, p.tiles);
  // Rows of datums are whole when a row of blocks is.
  const Buffer& from = *plan.buffers[source];
  std::int64_t least = from.untilized.on ? std::int64_t{from.mblock_n} * from.ublock_rt * from.ublock_ct : 1;
  if (least < 1 || tiles % least != 0) least = 1;
  write.chunk_tiles =
      least *
      divisor_up_to(tiles / least, std::max<std::int64_t>(1, kMostBytesWritten / std::max<std::int64_t>(stream.message_bytes * least, 1)));
  if (from.untilized.on) {
    write.rows = rows_of(plan, source);
    if (!write.rows) return;
  } else if (plan.buffers.size() > 1 && plan.lines.front().empty()) {
    return unsupported(plan.pipe, &queue, "a queue buffer that several cores write");
  }
  stream.write = std::move(write);
}

void hold_whole(Stream& s, std::int64_t chunk_tiles) {
  if (is_on_the_way(s)) s.bytes = static_cast<std::uint64_t>(room_of(s) / chunk_tiles * chunk_tiles * s.message_bytes);
}

// Now that it is known how large all buffers are: a relay writes chunks of at most half of its own.
void Builder::settle_writes() {
  if (!failure_.empty()) return;
  for (auto& streams : streams_)
    for (auto& [number, s] : streams) {
      if (s.pcie) settle_pcie(s);
      if (s.kind != StreamKind::relay || !s.write) continue;
      s.write->chunk_tiles = divisor_up_to(s.write->chunk_tiles, std::max<std::int64_t>(1, room_of(s) / 2));
      hold_whole(s, s.write->chunk_tiles);
    }
}

}  // namespace buda::overlay
