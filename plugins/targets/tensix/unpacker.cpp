// SPDX-License-Identifier: Apache-2.0
// The two unpackers: from L1 into source registers, or, the first of them, into the destination register.
//
// An unpacker reads consecutive datums of a tile and writes consecutive numbers of a register. The tile's descriptor gives its format and
// dimensions; its address counters, channel 0, where in the tile to begin (x the first datum, y, z and w in units of its dimensions) and,
// channel 1, x the last datum and y and z the place in the register. Bfp tiles begin with their exponents, one byte for each 16 datums,
// filled up to 16 bytes. With `multi_context` on, which all kernels of ours use, some settings come from the context's words.
// Source: tt-isa-documentation, WormholeB0, UNPACR_Regular and UNPACR_NOP.
#include "coprocessor.hpp"
#include "fields.hpp"
#include "formats.hpp"

#include <buda/base/text.hpp>
#include <buda/numerics/integers.hpp>
#include <buda/numerics/unpack.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace buda::tensix {
namespace {

using numerics::Source;

struct UnpackerSettings {
  std::uint16_t descriptor, mode, base, offset, register_strides;
};
constexpr UnpackerSettings kSettings[2] = {{52, 60, 64, 80, 44}, {92, 100, 104, 120, 46}};
constexpr std::uint64_t kMaxNumbers = 1 << 26;  // more than L1 has
constexpr std::uint16_t kFirstRow = 64;         // of SrcA, in numbers: where the first unpacker's addresses of registers begin

// What one UNPACR reads and how.
struct Reading {
  DataFormat format = DataFormat::invalid;
  Source source = Source::bf16;
  bool to_dest = false;
  bool transposed = false;
  std::uint32_t count = 0, first = 0;       // datums
  std::uint32_t exponents = 0, datums = 0;  // bytes in L1 where those of the tile begin
  std::uint32_t number = 0;                 // of the register, where the first goes
  std::uint32_t stride = 0;                 // bytes from 16 datums to the next; 0: they follow each other
  std::uint32_t bytes = 0, speed = 1;       // in L1, at 16 bytes per cycle times `speed`
};

std::uint32_t field_of(const Config& config, std::size_t thread, std::size_t word, unsigned low, unsigned width) {
  return config.get(thread, {static_cast<std::uint16_t>(word), static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(width)});
}

// Fills `words` with the numbers of a reading; the datums are within L1.
void read_numbers(std::span<const std::uint8_t> l1, const Reading& r, std::uint32_t* words) {
  if (r.stride != 0) {
    Reading row = r;
    row.stride = 0;
    for (std::uint32_t i = 0; i < r.count; i += row.count) {
      row.count = std::min<std::uint32_t>(r.count - i, kColumns);
      read_numbers(l1, row, words + i);
      row.datums += r.stride;
    }
    return;
  }
  const std::uint8_t* datums = l1.data() + r.datums;
  if (r.to_dest) {
    std::memcpy(words, datums + std::size_t{4} * r.first, std::size_t{4} * r.count);
  } else if (r.format == DataFormat::int8) {
    for (std::uint32_t i = 0; i < r.count; ++i) words[i] = numerics::source_of_int8(datums[r.first + i]);
  } else if (r.format == DataFormat::uint16) {
    for (std::uint32_t i = 0; i < r.count; ++i) {
      std::uint16_t datum;
      std::memcpy(&datum, datums + std::size_t{2} * (r.first + i), sizeof datum);
      words[i] = numerics::word_of_int16(datum);
    }
  } else {
    numerics::unpack_datums({r.format, r.source, datums, l1.data() + r.exponents}, r.first, {words, r.count});
  }
}

// The source register's form of numbers that are unpacked into format `out`; nothing where they cannot be.
std::optional<Source> source_for(std::uint32_t in, std::uint32_t out) {
  if (in == kFloat32 && out == kTf32) return Source::tf32;
  if (in == kFloat32 && out == kFloat16B) return Source::bf16;
  if (in == kFloat32 && out == kFloat16) return Source::fp16;
  if (in == kInt8 && out == kInt8) return Source::fp16;
  if (in == kInt16 && out == kInt16) return Source::bf16;
  const auto format = l1_format(in);
  if (in != out || in == kFloat32 || !format) return std::nullopt;
  return numerics::source_of(*format);
}

// The speed that settings ask for; what the format allows is sometimes less.
std::uint32_t speed_of(std::uint32_t throttle, std::uint32_t in, bool to_dest) {
  if (in == kBfp2 || in == kBfp2B) return 1;
  const std::uint32_t most = to_dest && (in == kBfp4 || in == kBfp4B) ? 2 : 4;
  return std::min(most, 1u << std::min(throttle, 2u));
}

Step reading_of(Coprocessor& c, std::size_t thread, std::size_t unpacker, Reading& r) {
  const Config& config = c.config;
  const UnpackerSettings& s = kSettings[unpacker];
  const auto get_bits = [&](std::size_t word, unsigned low, unsigned width) { return field_of(config, thread, word, low, width); };
  const AddressCounters& at = c.addresses[thread][unpacker];
  const std::uint32_t in = get_bits(s.descriptor, 0, 4), out = get_bits(s.mode, 0, 4);
  r.format = in == kInt8    ? DataFormat::int8
             : in == kInt16 ? DataFormat::uint16
             : in == kInt32 ? DataFormat::int32
                            : l1_format(in).value_or(DataFormat::invalid);
  r.to_dest = unpacker == 0 && get_bits(s.mode + 1u, 4, 1) != 0;
  r.transposed = get_bits(s.mode, 8, 1) != 0;
  const bool rows = get_bits(s.mode, 9, 1) != 0;
  if (get_bits(s.mode + 1u, 0, 1) == 0) return c.fail("tiles with compressed zeros are not unpacked");
  if (r.format == DataFormat::invalid) return c.fail(cat("format ", in, " is not unpacked yet"));
  if (r.to_dest) {
    if ((in != kFloat32 && in != kInt32) || out != in || r.transposed) return c.fail("only Float32 and Int32 go past the source registers");
  } else if (const auto source = source_for(in, out)) {
    r.source = *source;
  } else {
    return c.fail(cat("numbers of format ", in, " cannot become format ", out, " in a source register"));
  }
  const std::uint32_t x = unpacker == 0 ? get_bits(74, 0, 16) : get_bits(s.descriptor, 16, 16);
  const std::uint32_t y = get_bits(s.descriptor + 1u, 0, 8), z = std::max(get_bits(s.descriptor + 1u, 16, 8), 1u);
  const auto& from = at.channel[0];
  const auto& to = at.channel[1];
  if (to.x < from.x) return c.fail(cat("it reads datums ", from.x, " to ", to.x));
  r.count = to.x - from.x + 1;
  if (std::uint64_t{x} * y * z > kMaxNumbers || (from.y | from.z | from.w) > 0xffff || from.x > kMaxNumbers)
    return c.fail("the tile or the place in it is beyond the end of L1");
  const std::uint64_t first = from.x + std::uint64_t{x} * (from.y + std::uint64_t{y} * (from.z + std::uint64_t{z} * from.w));
  if (first > kMaxNumbers) return c.fail("the place in the tile is beyond the end of L1");
  r.first = static_cast<std::uint32_t>(first);
  const std::uint32_t base = (get_bits(s.base, 0, 32) + get_bits(s.offset, 0, 16) + 1) << 4,
                      bits = static_cast<std::uint32_t>(bits_per_datum(r.format));
  r.exponents = r.datums = base;
  if (is_bfp(r.format)) r.datums += ((x * y * z + 15) / 16 + 15) & ~15u;
  if (std::uint64_t{r.datums} + (std::uint64_t{r.first} + r.count) * bits / 8 > c.l1.size())
    return c.fail(cat("it reads beyond the end of L1, from ", r.datums, " on"));
  if (rows && (unpacker != 0 || bits < 8 || is_bfp(r.format) || r.transposed || r.first != 0))
    return c.fail("rows of a tensor become tiles in the first unpacker only, in formats of whole bytes, from the beginning on");
  if (rows) r.stride = get_bits(s.mode, 16, 12) << 4;
  if (rows && r.stride == 0) return c.fail("rows of a tensor lie on each other");
  if (rows && std::uint64_t{r.datums} + std::uint64_t{r.stride} * ((r.count - 1) / kColumns) + kColumns * bits / 8 > c.l1.size())
    return c.fail(cat("it reads beyond the end of L1, from ", r.datums, " on"));
  const std::uint32_t bytes = out == kFloat32 || out == kTf32 || out == kInt32       ? 4
                              : out == kFloat16 || out == kFloat16B || out == kInt16 ? 2
                                                                                     : 1;
  r.number = (to.y * get_bits(s.register_strides, 12, 12) + to.z * get_bits(s.register_strides + 1u, 0, 12)) / bytes;
  if (unpacker == 0) r.number += get_bits(72, 0, 16);
  if (unpacker == 0 && r.number < kFirstRow) return c.fail("the first unpacker writes before the first row of SrcA");
  if (unpacker == 0) r.number -= kFirstRow;
  r.bytes = (r.count * bits + 7) / 8 + (is_bfp(r.format) ? r.count / 16 : 0);
  r.speed = rows ? 4 : speed_of(get_bits(s.mode, 4, 2), in, r.to_dest);
  const std::size_t room = r.to_dest ? DestRegister::rows(true) * kColumns : kSourceRows * kColumns;
  if (r.number % kColumns != 0 || r.number + r.count > room)
    return c.fail(cat("it writes ", r.count, " numbers from number ", r.number, " on"));
  return Step::done;
}

// The parts of L1 that it reads.
Step check_read(Coprocessor& c, const Reading& r) {
  const auto bits = static_cast<std::size_t>(bits_per_datum(r.format));
  if (r.stride == 0) return c.check_l1(r.exponents, r.datums - r.exponents + (std::size_t{r.first} + r.count) * bits / 8, false);
  for (std::uint32_t i = 0; i < r.count; i += kColumns)
    if (c.check_l1(r.datums + i / kColumns * r.stride, kColumns * bits / 8, false) != Step::done) return Step::fault;
  return Step::done;
}

// Rows of a face become columns.
void transpose_faces(std::uint32_t* words, std::uint32_t count) {
  for (std::uint32_t face = 0; face + 256 <= count; face += 256)
    for (std::uint32_t r = 0; r < 16; ++r)
      for (std::uint32_t k = r + 1; k < 16; ++k) std::swap(words[face + r * 16 + k], words[face + k * 16 + r]);
}

Step unpacr(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("UNPACR");
  static const isa::Field kUnpacker = kOpcode.field("unpacker"), kFlip = kOpcode.field("flip"), kContexts = kOpcode.field("multi_context"),
                          kZ0 = kOpcode.field("z0"), kY0 = kOpcode.field("y0"), kZ1 = kOpcode.field("z1"), kY1 = kOpcode.field("y1"),
                          kLast = kOpcode.field("last");
  static const std::uint32_t kExecuted =
      kUnpacker.mask() | kFlip.mask() | kContexts.mask() | kZ0.mask() | kY0.mask() | kZ1.mask() | kY1.mask() | kLast.mask();
  if ((word & 0xffffffu & ~kExecuted) != 0 || get(word, kContexts) == 0) return c.fail("this form of UNPACR is not executed yet");
  const std::size_t unpacker = get(word, kUnpacker);
  SourceRegister& source = unpacker == 0 ? c.src_a : c.src_b;
  if (source.to_unpack().valid) return Step::waits;
  Reading r;
  if (const Step step = reading_of(c, thread, unpacker, r); step != Step::done) return step;
  if (check_read(c, r) != Step::done) return Step::fault;
  if (r.to_dest) c.dest_forms.write(numerics::Dest::fp32, r.number / kColumns, (r.count + kColumns - 1) / kColumns);
  const std::uint32_t column = r.number % kColumns;
  std::uint32_t* to = r.to_dest ? c.dest.row(true, r.number / kColumns, (column + r.count + kColumns - 1) / kColumns) + column
                                : source.to_unpack().words.data() + r.number;
  read_numbers(c.l1, r, to);
  if (r.transposed) transpose_faces(to, r.count);
  if (!r.to_dest) source.to_unpack().change();
  AddressCounters& at = c.addresses[thread][unpacker];
  at.channel[0].z = (at.channel[0].z + get(word, kZ0)) & 255;
  at.channel[0].y = (at.channel[0].y + get(word, kY0)) & 8191;
  at.channel[1].z = (at.channel[1].z + get(word, kZ1)) & 255;
  at.channel[1].y = (at.channel[1].y + get(word, kY1)) & 8191;
  c.time.unpack(thread, unpacker, r.bytes, r.speed, r.to_dest && get(word, kFlip) == 0 ? nullptr : &source.to_unpack());
  if (get(word, kFlip) != 0) {
    source.give();
    c.happened |= kForBanks;
  }
  return Step::done;
}

// Zeros in a bank, and banks that become valid without being read into.
Step unpacr_nop(Coprocessor& c, std::size_t, std::uint32_t word) {
  static const NamedOpcode kOpcode("UNPACR_NOP");
  static const isa::Field kUnpacker = kOpcode.field("unpacker"), kKind = kOpcode.field("kind");
  constexpr std::uint32_t kZeros = 1, kGive = 7;
  SourceRegister& source = get(word, kUnpacker) == 0 ? c.src_a : c.src_b;
  switch (get(word, kKind)) {
    case kZeros:
      if (source.to_compute().valid) return Step::waits;
      c.time.now = std::max({c.time.now, source.banks[0].since, source.banks[1].since});
      source.to_unpack().words.fill(0);
      source.to_unpack().change();
      return Step::done;
    case kGive:
      if (source.to_unpack().valid) return c.undefined(Check::unowned_bank, "it makes a bank valid that is");
      source.to_unpack().since = c.time.after_unpacking(get(word, kUnpacker));
      source.give();
      c.happened |= kForBanks;
      return Step::done;
    default:
      return c.fail("this form of UNPACR_NOP is not executed yet");
  }
}

}  // namespace

std::span<const NamedExecute> unpacker_instructions() {
  static constexpr NamedExecute kAll[] = {{"UNPACR", &unpacr}, {"UNPACR_NOP", &unpacr_nop}};
  return kAll;
}

}  // namespace buda::tensix
