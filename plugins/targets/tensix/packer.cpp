// SPDX-License-Identifier: Apache-2.0
// The four packers: from the destination register into L1.
//
// Each reads consecutive numbers from its own first row on, converts them, and writes them where its block of configuration says: first the
// exponents of Bfp formats, then, after what is reserved for them, the datums. Positions in the destination come from the packers' address
// counters, in bytes of the intermediate format.
// Source: tt-isa-documentation, WormholeB0, PACR and Packers; the conversions are module numerics.
#include "coprocessor.hpp"
#include "fields.hpp"
#include "formats.hpp"

#include <buda/base/text.hpp>
#include <buda/numerics/fields.hpp>
#include <buda/numerics/integers.hpp>
#include <buda/numerics/pack.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

namespace buda::tensix {
namespace {

using numerics::Dest;
using numerics::Intermediate;
using numerics::Packing;

constexpr std::size_t kFirstRows = 152;  // words with each packer's first row
constexpr std::size_t kPackAddressMods = 31;

std::optional<Intermediate> intermediate_of(std::uint32_t code) {
  switch (code) {
    case kFloat32:
      return Intermediate::wide;
    case kFloat16B:
      return Intermediate::bf16;
    case kBfp8B:
      return Intermediate::e8m6;
    case kFloat16:
      return Intermediate::fp16;
    case kBfp8:
      return Intermediate::e5m6;
    default:
      return std::nullopt;
  }
}

std::optional<DataFormat> integer_of(std::uint32_t code) {
  if (code == kInt8) return DataFormat::int8;
  if (code == kInt16) return DataFormat::uint16;
  return code == kInt32 ? std::optional(DataFormat::int32) : std::nullopt;
}

struct PackerJob {
  Packing packing;
  bool wide = false;
  bool accumulates = false;
  bool integer = false;
  std::uint32_t row = 0, count = 0;         // numbers from the first of a row on
  std::uint32_t exponents = 0, datums = 0;  // bytes in L1
};

// Numbers of a whole count of bytes, which are added to what is there where the packer accumulates.
template <class Datum>
void write_whole(std::uint8_t* to, const PackerJob& job, std::span<const std::uint32_t, 16> datums) {
  for (std::size_t i = 0; i < 16; ++i) {
    auto datum = static_cast<Datum>(datums[i]);
    if (job.accumulates) {
      Datum there;
      std::memcpy(&there, to + i * sizeof there, sizeof there);
      datum = static_cast<Datum>(numerics::accumulate_in_l1(job.packing.out, there, datum));
    }
    std::memcpy(to + i * sizeof datum, &datum, sizeof datum);
  }
}

template <unsigned bits>
void write_parts(std::uint8_t* to, std::span<const std::uint32_t, 16> datums) {
  constexpr std::size_t kPerByte = 8 / bits;
  for (std::size_t i = 0; i < 16 / kPerByte; ++i) {
    std::uint32_t byte = 0;
    for (std::size_t k = 0; k < kPerByte; ++k) byte |= datums[i * kPerByte + k] << (k * bits);
    to[i] = static_cast<std::uint8_t>(byte);
  }
}

void write_datums(std::uint8_t* to, const PackerJob& job, std::uint32_t bits, std::span<const std::uint32_t, 16> datums) {
  switch (bits) {
    case 32:
      return write_whole<std::uint32_t>(to, job, datums);
    case 16:
      return write_whole<std::uint16_t>(to, job, datums);
    case 8:
      return write_parts<8>(to, datums);
    case 4:
      return write_parts<4>(to, datums);
    default:
      return write_parts<2>(to, datums);
  }
}

// Rows are read and words written side by side; exponents are a word of their own.
Cycle pack_cycles(const PackerJob& job) {
  const auto bits = static_cast<std::uint32_t>(bits_per_datum(job.packing.out));
  const std::uint32_t rows = job.count / kColumns, words = (job.count * bits / 8 + 15) / 16 + (is_bfp(job.packing.out) ? 1 : 0);
  return std::max<Cycle>(rows * latency::kPackRow, words * (job.accumulates ? latency::kPackAdd : latency::kPackWord));
}

std::uint32_t packed_integer(const PackerJob& job, std::uint32_t word) {
  if (job.packing.out == DataFormat::uint16) return numerics::int16_of_word(word);
  return numerics::packed_integer(word, job.packing.out == DataFormat::int8, job.packing.relu != numerics::PackerRelu::none);
}

void pack_face(Coprocessor& c, const PackerJob& job) {
  const auto bits = static_cast<std::uint32_t>(bits_per_datum(job.packing.out));
  const bool has_exponents = is_bfp(job.packing.out);
  const std::uint32_t* from = c.dest.row(job.wide, job.row, job.count / kColumns);
  if (!job.integer && !job.accumulates && numerics::packs_as_bf16(job.packing))
    return numerics::pack_as_bf16(job.packing.dest, {from, job.count}, c.l1.data() + job.datums);
  for (std::uint32_t i = 0; i < job.count; i += 16) {
    std::uint32_t datums[16];
    if (job.integer) {
      for (std::size_t k = 0; k < 16; ++k) datums[k] = packed_integer(job, from[i + k]);
      write_datums(c.l1.data() + job.datums + std::size_t{i} * bits / 8, job, bits, datums);
      continue;
    }
    const std::uint8_t exponent = numerics::pack_group(job.packing, std::span<const std::uint32_t, 16>(from + i, 16), datums);
    if (has_exponents) c.l1[job.exponents + i / 16] = exponent;
    write_datums(c.l1.data() + job.datums + std::size_t{i} * bits / 8, job, bits, datums);
  }
}

// A threshold of 16 bits, as a number.
float threshold_of(Intermediate intermediate, std::uint32_t bits) {
  if (intermediate != Intermediate::fp16 && intermediate != Intermediate::e5m6) return std::bit_cast<float>(bits << 16);
  return std::bit_cast<float>(numerics::widened(numerics::word_of_fp16(bits)));
}

Step job_of(Coprocessor& c, std::size_t thread, std::size_t packer, PackerJob& job) {
  const Config& config = c.config;
  const std::uint16_t block = setting::kPacker[packer];
  const auto get_bits = [&](std::size_t word, unsigned low, unsigned width) {
    return config.get(thread, {static_cast<std::uint16_t>(word), static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(width)});
  };
  const std::uint32_t from = get_bits(block + 2u, 8, 4), to = get_bits(block + 2u, 4, 4);
  const auto integer = from == to ? integer_of(from) : std::nullopt;
  job.integer = integer.has_value();
  const auto intermediate = !integer ? intermediate_of(from) : std::optional(from == kInt16 ? Intermediate::bf16 : Intermediate::wide);
  job.packing.out = integer ? *integer : l1_format(to).value_or(DataFormat::invalid);
  if (!intermediate || job.packing.out == DataFormat::invalid) return c.fail(cat("format ", from, " is not packed into ", to, " yet"));
  if (config.get(thread, setting::kDestFormat) != from &&
      c.undefined(Check::format_mismatch, "the packers and the destination disagree about the intermediate format") != Step::done)
    return Step::fault;
  if (get_bits(20, 0, 16) != 0xffff || get_bits(16, 0, 32) != 0) return c.fail("masked edges are not packed yet");
  job.wide = config.get(thread, setting::kReadWide) != 0;
  job.packing.intermediate = *intermediate;
  const bool narrow = *intermediate == Intermediate::fp16 || *intermediate == Intermediate::e5m6;
  if (job.wide && from == kInt16) return c.fail("numbers of 32 bits are not packed as 16 bits that are carried");
  if (job.wide && narrow) return c.fail("numbers of 32 bits have no intermediate format with exponents of 5 bits");
  if (!job.wide && *intermediate == Intermediate::wide) return c.fail("numbers of 16 bits have no intermediate format of 32");
  job.packing.dest = job.wide ? Dest::fp32 : narrow ? Dest::fp16 : Dest::bf16;
  const std::uint32_t mode = config.get(thread, setting::kReluMode);
  if (mode > 3) return c.fail(cat("mode of ReLU is not 0 to 3: ", mode));
  job.packing.relu = static_cast<numerics::PackerRelu>(mode);
  job.packing.threshold = threshold_of(*intermediate, config.get(thread, setting::kReluThreshold));
  job.accumulates = get_bits(block + 3u, 21, 1) != 0;
  if (job.integer && mode > 1) return c.fail("ReLU of integers has no threshold");
  if (job.accumulates && !numerics::can_accumulate_in_l1(job.packing.out)) return c.fail("this format is not summed in L1");

  const AddressCounters& at = c.addresses[thread][2];
  const std::uint32_t bytes = from == kInt8                                                                ? 1
                              : *intermediate == Intermediate::wide                                        ? 4
                              : *intermediate == Intermediate::e8m6 || *intermediate == Intermediate::e5m6 ? 1
                                                                                                           : 2;
  const std::uint32_t number =
      (at.channel[0].y * config.get(thread, setting::kPackStrideY) + at.channel[0].z * config.get(thread, setting::kPackStrideZ) +
       at.channel[0].w * config.get(thread, setting::kPackStrideW)) /
      bytes;
  job.count = at.channel[1].x - at.channel[0].x + 1;
  job.row = (number / kColumns + (get_bits(kFirstRows + packer, 0, 12))) % kDestRows;
  if (number % kColumns != 0 || job.count % 16 != 0 || job.count > 256 || job.row + job.count / kColumns > DestRegister::rows(job.wide))
    return c.fail(cat("it packs ", job.count, " numbers from row ", job.row, " of the destination on"));
  const std::uint32_t base = get_bits(block + 1u, 0, 32) + 1;
  const auto bits = static_cast<std::uint32_t>(bits_per_datum(job.packing.out));
  job.exponents = base << 4;
  job.datums = (base + (bits <= 8 ? get_bits(block, 16, 16) : 0)) << 4;
  if (std::uint64_t{job.datums} + std::uint64_t{job.count} * bits / 8 > c.l1.size() ||
      std::uint64_t{job.exponents} + job.count / 16 > c.l1.size())
    return c.fail(cat("it packs beyond the end of L1, from ", job.datums, " on"));
  if (c.check_dest(job.packing.dest, job.row, job.count / kColumns) != Step::done) return Step::fault;
  if (is_bfp(job.packing.out) && c.check_l1(job.exponents, job.count / 16, true) != Step::done) return Step::fault;
  return c.check_l1(job.datums, std::size_t{job.count} * bits / 8, true);
}

// Counters y and z of what is read; those of what is written are not used by whole tiles.
void move_pack_counters(Coprocessor& c, std::size_t thread, std::uint32_t index) {
  const std::uint32_t mod = c.config.of_thread(thread, kPackAddressMods + index);
  AddressCounters& at = c.addresses[thread][2];
  auto& y = at.channel[0].y;
  auto& start = at.start[0].y;
  if ((mod & 1u << 5) != 0) {
    y = start = 0;
  } else if ((mod & 1u << 4) != 0) {
    y = start = (start + (mod & 15)) & 8191;
  } else {
    y = (y + (mod & 15)) & 8191;
  }
  auto& z = at.channel[0].z;
  z = (mod & 1u << 13) != 0 ? 0 : (z + (mod >> 12 & 1)) & 255;
}

Step pacr(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("PACR");
  static const isa::Field kLast = kOpcode.field("last"), kPackers = kOpcode.field("packers"), kAddrMod = kOpcode.field("addr_mod");
  if ((word & 0xffffffu & ~(kLast.mask() | kPackers.mask() | kAddrMod.mask())) != 0 || get(word, kLast) == 0)
    return c.fail("this form of PACR is not executed yet");
  const std::uint32_t packers = get(word, kPackers);
  std::array<PackerJob, 4> jobs;
  for (std::size_t i = 0; i < 4; ++i) {
    if ((packers >> i & 1) == 0) continue;
    if (const Step step = job_of(c, thread, i, jobs[i]); step != Step::done) return step;
    // The thread goes on when all packers have taken their work.
    c.time.wait_for_packer(i);
    for (std::uint32_t row = 0; row < jobs[i].count / kColumns; row += 8)
      c.time.read_dest(Timing::dest_block(jobs[i].wide, jobs[i].row + row));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    if ((packers >> i & 1) == 0) continue;
    pack_face(c, jobs[i]);
    c.time.pack(thread, i, pack_cycles(jobs[i]));
  }
  move_pack_counters(c, thread, get(word, kAddrMod));
  return Step::done;
}

}  // namespace

std::span<const NamedExecute> packer_instructions() {
  static constexpr NamedExecute kAll[] = {{"PACR", &pacr}};
  return kAll;
}

}  // namespace buda::tensix
