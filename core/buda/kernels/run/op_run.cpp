// SPDX-License-Identifier: Apache-2.0
// Feeding and collecting.
#include <buda/kernels/run/op_run.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/kernels/programs/elf.hpp>
#include <buda/kernels/run/print_rings.hpp>
#include <buda/kernels/run/zone_rings.hpp>
#include <buda/kernels/tables/op_layout.hpp>
#include <buda/kernels/text/source.hpp>
#include <buda/kernels/text/turned_inputs.hpp>
#include <buda/numerics/pack.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/tensor/formats/tile_layout.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace buda::kernels {

// All that is the same for the cores of an op, and which of them this is.
struct CoreWork {
  const arith::OpCall& call;
  const OpLayout& layout;
  const std::array<Executable, kThreads>& programs;
  GridCoord place;
  arith::Value& output;  // of the op; cores write to different tiles of it
  std::vector<PrintedLine>& printed;
  ZoneMarks& marks;
};

namespace {

using arith::OpCall;
using arith::Value;
using netlist::TileIndex;
using Counter = Core::Counter;

constexpr std::size_t kTileNumbers = 1024;

std::size_t first_number(const Value& value, TileIndex tile) {
  const auto t = static_cast<std::size_t>(tile.t), r = static_cast<std::size_t>(tile.r), c = static_cast<std::size_t>(tile.c);
  return t * value.matrix() + r * static_cast<std::size_t>(value.dim.rows) * value.cols() + c * static_cast<std::size_t>(value.dim.cols);
}

// Tiles of one operand on their way into or out of a ring.
struct Passage {
  const OperandLayout& layout;
  std::int64_t all = 0;  // messages: tiles, or rows of them
  std::int64_t moved = 0;

  bool done() const { return moved == all; }
  std::uint32_t stream() const { return layout.ring.stream; }
  std::uint32_t slot() const {
    return layout.ring.address + static_cast<std::uint32_t>(moved % layout.ring.tiles) * layout.ring.tile_bytes;
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(moved & 0xffff); }
};

class CoreRun {
 public:
  CoreRun(const CoreWork& work, Core& core)
      : work_(work), core_(core), output_{work.layout.output, messages_of(work.layout)}, rings_(work.programs), zones_(work.programs) {
    for (const OperandLayout& input : work.layout.inputs)
      inputs_.push_back({input, input.tiles / std::max<std::int64_t>(work.layout.input_row_tiles, 1)});
  }

  CoreFailure run() {
    load();
    int quiet = 0;
    while (!ended()) {
      bool moved = feed();
      Core::Turn turn = core_.advance();
      const bool printed = rings_.take(core_, work_.printed), marked = zones_.take(core_, work_.marks);
      if (turn.fault) return cat("core ", place(), ", ", *turn.fault);
      moved = collect() || moved || printed || marked;
      quiet = moved || turn.busy ? 0 : quiet + 1;
      if (turn.late || quiet > core_.patience())
        return cat("core ", place(), turn.late ? " has not ended in the cycles that it may take, with " : " waits for ever, with ",
                   output_.moved, " of ", output_.layout.tiles,
                   " tiles made: ", core_.state([this](std::uint32_t stream) { return name_of(stream); }));
    }
    return std::nullopt;
  }

 private:
  std::string place() const { return cat(work_.place.row, '-', work_.place.col); }

  void load() {
    std::array<std::uint32_t, kThreads> entries;
    for (std::size_t t = 0; t < kThreads; ++t) {
      for (const Segment& s : work_.programs[t].segments) {
        core_.write(s.address, s.bytes);
        core_.write(s.address + static_cast<std::uint32_t>(s.bytes.size()), std::string(s.memory_bytes - s.bytes.size(), '\0'));
      }
      entries[t] = work_.programs[t].entry;
    }
    const tt::Arguments& arguments = work_.layout.arguments;
    const auto& table = work_.layout.table;
    if (!table.empty()) core_.write(arguments.table, {reinterpret_cast<const char*>(table.data()), table.size() * sizeof table[0]});
    core_.write(tt::kArgumentsAddress, {reinterpret_cast<const char*>(&arguments), sizeof arguments});
    for (std::int64_t n = 0; n < std::min<std::int64_t>(output_.layout.ring.tiles, messages()); ++n) put_previous(n);
    allow_parts();
    rings_.start(core_);
    zones_.start(core_);
    core_.start(entries);
  }

  // What the programs may access.
  void allow_parts() {
    const tt::Arguments& a = work_.layout.arguments;
    const auto ring = [&](const tt::Ring& r) { core_.allow(r.address, r.tiles * r.tile_bytes, Core::Use::tiles); };
    for (const OperandLayout& input : work_.layout.inputs) ring(input.ring);
    ring(work_.layout.output.ring);
    ring(a.between);
    for (const tt::Ring& r : a.buffers) ring(r);
    core_.allow(a.table, work_.layout.table_words * 4, Core::Use::shared);
    core_.allow(tt::kArgumentsAddress, tt::kArgumentsBytes, Core::Use::shared);
    for (std::size_t t = 0; t < kThreads; ++t)
      for (const Segment& s : work_.programs[t].segments)
        core_.allow(s.address, s.memory_bytes, static_cast<Core::Use>(static_cast<std::size_t>(Core::Use::unpack_program) + t));
  }

  // What the output's ring takes, altogether.
  static std::int64_t messages_of(const OpLayout& layout) { return layout.row_messages > 0 ? layout.row_messages : layout.output.tiles; }
  std::int64_t messages() const { return output_.all; }

  // Of a stream: whose tiles it counts, and how many of them there have been.
  std::string name_of(std::uint32_t stream) const {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].stream() == stream)
        return cat("input ", i, " from '", work_.call.op.inputs[i].name, "', of which ", inputs_[i].moved, " of ", inputs_[i].all,
                   work_.layout.input_row_tiles > 0 ? " rows of tiles have arrived" : " tiles have arrived");
    if (output_.stream() == stream) return cat("the output, of which ", output_.moved, " of ", messages(), " have left");
    if (work_.layout.arguments.between.stream == stream) return "sums between blocks";
    return "between the steps of the kernel";
  }

  // Where the packers add to earlier sums, these are in the output's slots.
  void put_previous(std::int64_t message) {
    if (!work_.call.op.gradient_op || message >= messages()) return;
    const tt::Ring& ring = output_.layout.ring;
    const std::uint32_t slot = ring.address + static_cast<std::uint32_t>(message % ring.tiles) * ring.tile_bytes;
    std::string tile(ring.tile_bytes, '\0');
    if (!work_.call.previous) return core_.write(slot, tile);  // zeros, where sums start anew
    const Value& value = *work_.call.previous;
    pack_tile({value.format, value.dim}, value.floats.data() + first_number(value, output_.layout.tile(work_.place, message)), value.cols(),
              tile.data());
    core_.write(slot, tile);
  }

  bool ended() {
    if (output_.moved != messages()) return false;
    std::array<std::uint32_t, kThreads> done;
    core_.read(tt::kArgumentsAddress, reinterpret_cast<char*>(done.data()), sizeof done);
    return std::find(done.begin(), done.end(), 0u) == done.end();
  }

  bool feed() {
    bool moved = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Passage& p = inputs_[i];
      if (p.done()) continue;
      const Value& value = *work_.call.inputs[i];
      const std::uint32_t taken = core_.counter(p.stream(), Counter::taken);
      tile_.resize(p.layout.ring.tile_bytes);
      while (!p.done() && ((p.count() - taken) & 0xffff) < p.layout.ring.tiles) {
        if (work_.layout.input_row_tiles > 0) {
          put_rows(value, p);
        } else {
          p.layout.turned ? put_turned(value, p.layout.tile(work_.place, p.moved), tile_.data())
                          : put_tile(value, p.layout.tile(work_.place, p.moved), tile_.data());
        }
        core_.write(p.slot(), tile_);
        ++p.moved;
        core_.set_counter(p.stream(), Counter::arrived, p.count());
        moved = true;
      }
    }
    return moved;
  }

  static void put_tile(const Value& value, TileIndex tile, char* to) {
    const std::size_t first = first_number(value, tile);
    if (value.integer()) return pack_tile({value.format, value.dim}, value.ints.data() + first, value.cols(), to);
    pack_tile({value.format, value.dim}, value.floats.data() + first, value.cols(), to);
  }

  // The tile as it was before it was transposed, which is what pipes bring.
  static void put_turned(const Value& value, TileIndex tile, char* to) {
    constexpr std::size_t kSide = 32;
    const float* numbers = value.floats.data() + first_number(value, tile);
    std::array<float, kSide * kSide> turned;
    for (std::size_t r = 0; r < kSide; ++r)
      for (std::size_t c = 0; c < kSide; ++c) turned[c * kSide + r] = numbers[r * value.cols() + c];
    pack_tile({value.format, value.dim}, turned.data(), kSide, to);
  }

  // 32 rows of numbers, behind a header: the faces of tiles, of which each row is a part of one.
  void put_rows(const Value& value, const Passage& p) {
    const std::int64_t tiles = work_.layout.input_row_tiles;
    const std::size_t row_bytes = work_.layout.arguments.row_bytes, part = row_bytes / static_cast<std::size_t>(tiles) / 2;
    std::string tile(static_cast<std::size_t>(tile_bytes(value.format)), '\0');
    for (std::int64_t c = 0; c < tiles; ++c) {
      put_tile(value, p.layout.tile(work_.place, p.moved * tiles + c), tile.data());
      for (std::size_t i = 0; i < 64; ++i) {  // parts of 16 numbers, face by face
        const std::size_t row = i / 32 * 16 + i % 16, half = i / 16 % 2;
        std::copy_n(tile.data() + kTileHeaderBytes + i * part, part,
                    tile_.data() + kTileHeaderBytes + row * row_bytes + (2 * static_cast<std::size_t>(c) + half) * part);
      }
    }
  }

  bool collect() {
    if (output_.moved == messages()) return false;
    const std::uint32_t arrived = core_.counter(output_.stream(), Counter::arrived);
    const std::int64_t before = output_.moved;
    tile_.resize(output_.layout.ring.tile_bytes);
    while (output_.moved != messages() && ((arrived - output_.count()) & 0xffff) != 0) {
      core_.read(output_.slot(), tile_.data(), tile_.size());
      if (work_.layout.row_messages > 0) {
        take_rows();
      } else {
        work_.output.integer() ? take_tile(work_.output.ints) : take_tile(work_.output.floats);
      }
      put_previous(output_.moved + output_.layout.ring.tiles);
      ++output_.moved;
    }
    if (output_.moved == before) return false;
    core_.set_counter(output_.stream(), Counter::taken, output_.count());
    return true;
  }

  template <class Number>
  void take_tile(std::vector<Number>& made) {
    unpack_tile({work_.call.op.out_format, TileDim{}}, tile_.data(), made.data() + first_made(output_.moved), work_.output.cols());
  }
  // Of a tile that the core makes, in the op's output.
  std::size_t first_made(std::int64_t tile) const { return first_number(work_.output, output_.layout.tile(work_.place, tile)); }

  // A row of blocks as rows of numbers becomes its tiles.
  void take_rows() {
    const netlist::OperandBlocks& b = output_.layout.blocks;
    const DataFormat format = work_.call.op.out_format;
    const auto bytes = static_cast<std::size_t>(bits_per_datum(format)) / 8, cols = static_cast<std::size_t>(b.part_ct()) * 32;
    const auto number = [&](std::size_t row, std::size_t col) {
      std::uint32_t datum = 0;
      std::memcpy(&datum, tile_.data() + 16 + (row * cols + col) * bytes, bytes);
      return numerics::value_of_datum(format, datum, 0);
    };
    const auto blocks = static_cast<std::size_t>(b.blocks_c), rows = static_cast<std::size_t>(b.block_rt),
               width = static_cast<std::size_t>(b.block_ct);
    std::int64_t tile = output_.moved * static_cast<std::int64_t>(blocks * rows * width);
    for (std::size_t j = 0; j < blocks; ++j)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < width; ++c) {
          float* to = work_.output.floats.data() + first_made(tile++);
          for (std::size_t row = 0; row < 32; ++row)
            for (std::size_t col = 0; col < 32; ++col)
              to[row * work_.output.cols() + col] = number(r * 32 + row, (j * width + c) * 32 + col);
        }
  }

  const CoreWork& work_;
  Core& core_;
  std::vector<Passage> inputs_;
  Passage output_;
  PrintRings rings_;
  ZoneRings zones_;
  std::string tile_;
};

std::optional<std::string> unable(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i]->dim != TileDim{})
      return cat("input ", i, " has tiles of ", call.inputs[i]->dim.rows, 'x', call.inputs[i]->dim.cols);
  }
  return std::nullopt;
}

using Programs = std::array<Executable, kThreads>;

std::variant<Programs, std::string> programs_of(const CompiledKernel& kernel, const device::L1Map& l1) {
  Programs out;
  for (std::size_t t = 0; t < kThreads; ++t) {
    const std::string file = cat(kernel.id, '/', kThreadNames[t], ".elf");
    auto program = parse_executable(kernel.executables[t].view(), file);
    if (!program) return cat("kernel '", file, "': ", program.failure().diagnostics().front().message);
    for (const Segment& s : program->segments)
      if (s.address >= l1.operands_begin || s.memory_bytes > l1.operands_begin - s.address)
        return cat("kernel '", file, "' is not where programs are in L1");
    out[t] = std::move(*program);
  }
  return out;
}

constexpr std::size_t kRowBytes = 32 * 4;  // of a tile, in the output

// Calls `visit` with where each row of a core's tiles is in the output, tile by tile.
template <class Visit>
void for_rows_made(const CoreWork& work, Visit visit) {
  Value& output = work.output;
  char* numbers = output.integer() ? reinterpret_cast<char*>(output.ints.data()) : reinterpret_cast<char*>(output.floats.data());
  for (std::int64_t tile = 0; tile < work.layout.output.tiles; ++tile) {
    char* row = numbers + first_number(output, work.layout.output.tile(work.place, tile)) * 4;
    for (int r = 0; r < 32; ++r, row += output.cols() * 4) visit(row);
  }
}

Value output_of(const OpCall& call) { return Value(call.op.shape(), call.op.tile_dim, call.op.out_format); }

// What is the same for all cores of an op.
struct Prepared {
  std::vector<arith::ValuePtr> rows;  // that were looked up, and are the call's input
  OpCall call;
  OpLayout layout;
  Programs programs;
};

std::variant<Prepared, std::string> prepare(const KernelSet& kernels, const device::L1Map& l1, const OpCall& call) {
  const auto found = kernels.kernel_of_op.find(call.op.name);
  if (found == kernels.kernel_of_op.end()) return std::string("it has no kernel");
  if (auto why = unable(call)) return *why;
  OpCall prepared = call;
  std::vector<arith::ValuePtr> looked_up;
  if (ops::looks_up_rows(call.op.type)) {
    // On a chip the fifth processor reads the rows of the table whose numbers it gets.
    auto rows = arith::looked_up(call);
    if (auto* why = std::get_if<std::string>(&rows)) return std::move(*why);
    looked_up.push_back(std::make_shared<const Value>(std::move(std::get<Value>(rows))));
    prepared.inputs = looked_up;
  }
  auto layout = layout_of(prepared, {static_cast<std::uint32_t>(l1.operands_begin), static_cast<std::uint32_t>(l1.operands_end()), {}, 0});
  if (auto* why = std::get_if<std::string>(&layout)) return std::move(*why);
  OpLayout& placed = std::get<OpLayout>(layout);
  for (std::size_t i = 0; i < placed.inputs.size(); ++i) placed.inputs[i].turned = turns(kernels.kernels[found->second].kernel, call.op, i);
  auto programs = programs_of(kernels.kernels[found->second], l1);
  if (auto* why = std::get_if<std::string>(&programs)) return std::move(*why);
  return Prepared{std::move(looked_up), prepared, std::move(std::get<OpLayout>(layout)), std::move(std::get<Programs>(programs))};
}

}  // namespace

CoreFailure run_on(const CoreWork& work, Core& core) { return CoreRun(work, core).run(); }

std::string tiles_made(const CoreWork& work) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(work.layout.output.tiles) * kTileNumbers * 4);
  for_rows_made(work, [&](const char* row) { bytes.append(row, kRowBytes); });
  return bytes;
}

void put_tiles_made(const CoreWork& work, std::string_view bytes) {
  for_rows_made(work, [&](char* row) {
    bytes.copy(row, kRowBytes);
    bytes.remove_prefix(std::min(bytes.size(), kRowBytes));
  });
}

CoreFailure run_part(const KernelSet& kernels, const device::L1Map& l1, const OpCall& call, GridCoord place, Core& core, ZoneMarks& marks) {
  auto prepared = prepare(kernels, l1, call);
  if (auto* why = std::get_if<std::string>(&prepared)) return std::move(*why);
  const Prepared& op = std::get<Prepared>(prepared);
  Value output = output_of(call);
  std::vector<PrintedLine> printed;
  return run_on({op.call, op.layout, op.programs, place, output, printed, marks}, core);
}

arith::Outcome run_op(const KernelSet& kernels, const device::L1Map& l1, const OpCall& call, const RunCore& run_core, const Print& print) {
  // Ethernet cores move bytes, without a kernel.
  if (ops::runs_on_ethernet(call.op.type)) return arith::op_kind(call.op.type).run(call);
  auto prepared = prepare(kernels, l1, call);
  if (auto* why = std::get_if<std::string>(&prepared)) return std::move(*why);
  const OpCall& given = std::get<Prepared>(prepared).call;
  const OpLayout& placed = std::get<Prepared>(prepared).layout;
  const Programs& programs = std::get<Prepared>(prepared).programs;
  Value output = output_of(call);
  const GridShape grid = call.op.grid;
  std::vector<CoreFailure> failures(static_cast<std::size_t>(grid.volume()));
  std::vector<std::vector<PrintedLine>> printed(failures.size());
  const auto place_of = [&](std::size_t i) {
    const auto n = static_cast<std::int32_t>(i);
    return GridCoord{n / grid.cols, n % grid.cols};
  };
  parallel_for(call.threads, failures.size(), [&](std::size_t i) {
    const GridCoord place = place_of(i);
    ZoneMarks marks;  // their cycles are of no use where tiles come at once
    failures[i] = run_core({given, placed, programs, place, output, printed[i], marks}, place);
  });
  for (std::size_t i = 0; print && i < printed.size(); ++i)
    for (const PrintedLine& line : printed[i]) print(place_of(i), line);
  for (CoreFailure& failure : failures)
    if (failure) return std::move(*failure);
  return output;
}

}  // namespace buda::kernels
