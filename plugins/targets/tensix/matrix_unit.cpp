// SPDX-License-Identifier: Apache-2.0
// The matrix unit: products, elementwise operations, moves, and the counters that say on which rows they work.
//
// Source: tt-isa-documentation, WormholeB0: MVMUL, ELWADD, ELWSUB, ELWMUL, MOVA2D, ZEROACC, SETRWC, INCRWC, ApplyAddrMod; the arithmetic is
// module numerics.
#include "coprocessor.hpp"
#include "fields.hpp"

#include <buda/base/text.hpp>
#include <buda/numerics/integers.hpp>
#include <buda/numerics/kernels.hpp>
#include <buda/numerics/matrix_unit.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace buda::tensix {
namespace {

using numerics::Dest;
using numerics::Source;

constexpr std::size_t kRows = 8;  // of the destination, that an instruction works on
// Settings of threads.
constexpr std::size_t kDestOffset = 1, kAddressModBase = 2, kPhaseBase = 6, kAddressModsAb = 7, kAddressModsDest = 23;

Source source_of(std::uint32_t format) {
  if (format == kFloat16 || format == kLf8 || format == kBfp8 || format == kBfp4 || format == kBfp2) return Source::fp16;
  return format == kFloat32 || format == kTf32 ? Source::tf32 : Source::bf16;
}

// What the matrix unit is set to.
struct Arithmetic {
  Source source = Source::bf16;
  bool wide = false;
  Dest dest = Dest::bf16;
  bool integer = false;
};

std::string unsupported(const Config& config, std::size_t thread) {
  if (config.get(thread, setting::kStochastic) != 0) return "stochastic rounding is not executed";
  if (config.get(thread, setting::kKeepDenormals) != 0) return "denormals are not kept";
  return {};
}

Step check_formats(Coprocessor& c, std::size_t thread) {
  const std::uint32_t a_format = c.config.get(thread, setting::kSrcAFormat), b_format = c.config.get(thread, setting::kSrcBFormat);
  if (c.config.get(thread, setting::kIntegerMath) != 0) {
    if (a_format == kInt8 && b_format == kInt8) return Step::done;
    return c.undefined(Check::format_mismatch, "the matrix unit is set to integers, and SrcA or SrcB to another format");
  }
  const Source a = source_of(a_format), b = source_of(b_format);
  if ((a == Source::fp16) == (b == Source::fp16)) return Step::done;
  return c.undefined(Check::format_mismatch, "SrcA and SrcB have exponents of different width");
}

Arithmetic arithmetic(const Config& config, std::size_t thread) {
  Arithmetic a;
  a.integer = config.get(thread, setting::kIntegerMath) != 0;
  a.source = source_of(config.get(thread, setting::kSrcAFormat));
  a.wide = a.integer || config.get(thread, setting::kWideDest) != 0;
  a.dest = a.wide ? Dest::fp32 : a.source == Source::fp16 ? Dest::fp16 : Dest::bf16;
  return a;
}

// Moves a counter as bits of an address modifier say: `bits` increment, `return`, `clear` from the lowest on.
void move(std::uint32_t& counter, std::uint32_t& start, std::uint32_t by, bool returns, bool clears, std::uint32_t size) {
  if (clears) {
    counter = start = 0;
  } else if (returns) {
    counter = start = (start + by) % size;
  } else {
    counter = (counter + by) % size;
  }
}

Step release(Coprocessor& c, std::uint32_t flip) {
  Step step = Step::done;
  const auto give_back = [&](SourceRegister& source, const char* name) {
    if (source.to_compute().valid) {
      source.release(c.time.now + 1);
      c.happened |= kForBanks;
    } else if (step == Step::done) {
      step = c.undefined(Check::unowned_bank, cat("it gives back a bank of ", name, " that it does not have"));
    }
  };
  if ((flip & 1) != 0) give_back(c.src_a, "SrcA");
  if ((flip & 2) != 0) give_back(c.src_b, "SrcB");
  return step;
}

// The first of the rows of the destination that an instruction means, nothing where they are beyond its end.
std::optional<std::uint32_t> dest_row(Coprocessor& c, std::size_t thread, bool wide, std::uint32_t dst) {
  const std::uint32_t row = first_dest_row(c, thread, dst);
  if (row % kRows == 0 && row + kRows <= DestRegister::rows(wide)) return row;
  c.fail(sentence(Check::alignment, cat("it works on 8 rows of the destination from row ", row, " on")));
  return std::nullopt;
}
// The first of the rows, which are read before if `reads`, and then written with this latency; nothing where they cannot be.
std::optional<std::uint32_t> use_dest(Coprocessor& c, std::size_t thread, Dest form, std::uint32_t dst, bool reads, Cycle latency) {
  const bool wide = form == Dest::fp32;
  const auto row = dest_row(c, thread, wide, dst);
  if (!row || (reads && c.check_dest(form, *row, kRows) != Step::done)) return std::nullopt;
  c.dest_forms.write(form, *row, kRows);
  const std::size_t block = Timing::dest_block(wide, *row);
  if (reads) c.time.read_dest(block);
  c.time.write_dest(block, latency);
  return row;
}

struct MatrixFields {
  isa::Field dst, addr_mod, broadcast, flip;
  explicit MatrixFields(std::string_view name) {
    const NamedOpcode opcode(name);
    dst = opcode.field("dst");
    addr_mod = opcode.field("addr_mod");
    broadcast = opcode.field("broadcast");
    flip = opcode.field("flip");
  }
};

Step mvmul(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const MatrixFields kFields("MVMUL");
  if (!c.src_a.to_compute().valid || !c.src_b.to_compute().valid) return Step::waits;
  if (std::string why = unsupported(c.config, thread); !why.empty()) return c.fail(std::move(why));
  if (check_formats(c, thread) != Step::done) return Step::fault;
  if (get(word, kFields.broadcast) != 0) return c.fail("a broadcast row of SrcB is not executed yet");
  const RowCounters& rows = c.rows[thread];
  if (rows.a % 16 != 0 || rows.b % kRows != 0)
    return c.fail(sentence(Check::alignment, cat("it multiplies from row ", rows.a, " of SrcA and row ", rows.b, " of SrcB on")));
  const auto dest = use_dest(c, thread, arithmetic(c.config, thread).dest, get(word, kFields.dst), true, latency::kMatrix);
  if (!dest) return Step::fault;
  c.products.push_back({rows.a, rows.b, *dest, (rows.phase + c.config.of_thread(thread, kPhaseBase)) & 3});
  apply_address_mod(c, thread, get(word, kFields.addr_mod));
  if (get(word, kFields.flip) == 0) return Step::done;
  execute_products(c, thread);
  return release(c, get(word, kFields.flip));
}

// One product of integers.
void execute_integers(Coprocessor& c, const Product& p) {
  const std::uint32_t *a = c.src_a.to_compute().words.data() + p.a * kColumns, *b = c.src_b.to_compute().words.data() + p.b * kColumns;
  std::array<std::int32_t, kColumns * kColumns> factors;
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = numerics::integer_factor_a(a[i], p.phase);
  std::uint32_t* dest = c.dest.row(true, p.dest, kRows);
  for (std::size_t r = 0; r < kRows; ++r) {
    std::array<std::int32_t, kColumns> sums = {};
    for (std::size_t k = 0; k < kColumns; ++k) {
      const std::int32_t left = numerics::integer_factor_b(b[r * kColumns + k], p.phase);
      for (std::size_t col = 0; col < kColumns; ++col) sums[col] += left * factors[k * kColumns + col];
    }
    for (std::size_t col = 0; col < kColumns; ++col) dest[r * kColumns + col] = numerics::integer_sum(dest[r * kColumns + col], sums[col]);
  }
}

// Executes one product, or two that have SrcB's rows in common and neighbouring faces of SrcA.
void execute(Coprocessor& c, const Arithmetic& how, const Product& left_face, const Product* right_face) {
  const numerics::LeftOperand& left = c.src_b.to_compute().left();
  const numerics::RightOperand& right = c.src_a.to_compute().right();
  const Product& p = left_face;
  const bool second = right_face == nullptr && p.a % 32 != 0;  // alone, and the right one
  alignas(64) std::uint32_t nowhere[kRows * kColumns];         // what the other half of a panel would get
  std::uint32_t* beside = right_face != nullptr ? c.dest.row(how.wide, right_face->dest, kRows) : nowhere;
  if (right_face == nullptr) std::fill(std::begin(nowhere), std::end(nowhere), 0u);
  std::uint32_t* dest = c.dest.row(how.wide, p.dest, kRows);
  const std::size_t inner = p.a / 32 * 16;
  numerics::best_kernels().mvmul({right.exponents(0, inner),
                                  right.slices((p.phase & 1) != 0, 0, inner),
                                  left.exponents(p.b, 0),
                                  left.slices((p.phase & 2) != 0, p.b, 0),
                                  kColumns,
                                  {second ? beside : dest, second ? dest : beside},
                                  kColumns,
                                  kRows,
                                  numerics::exponent_adjustment({how.source, how.dest, p.phase}),
                                  how.dest});
}

// The one after `first` that can be executed with it: of the right face beside, unless one between them works on the same rows of the
// destination. Its index, or that of `first`.
std::size_t partner(std::span<const Product> products, std::span<const bool> done, std::size_t first) {
  const Product& p = products[first];
  if (p.a % 32 != 0) return first;
  for (std::size_t i = first + 1; i < products.size(); ++i) {
    const Product& q = products[i];
    if (done[i] || q.a != p.a + 16 || q.b != p.b || q.phase != p.phase || q.dest == p.dest) continue;
    for (std::size_t k = first; k < i; ++k)
      if (!done[k] && products[k].dest == q.dest) return first;
    return i;
  }
  return first;
}

enum class Elementwise : std::uint8_t { add, subtract, multiply };

// SrcB's rows, as broadcasting and the operation want them: in `changed`, or as they stand in the bank.
const std::uint32_t* second_operand(const SourceBank& bank, std::uint32_t row, std::uint32_t broadcast, bool negated,
                                    std::array<std::uint32_t, kRows * kColumns>& changed) {
  const std::uint32_t *from = bank.words.data() + row * kColumns, sign = negated ? numerics::kSignBit : 0;
  if (broadcast == 0 && !negated) return from;
  const std::size_t row_stride = (broadcast & 2) != 0 ? 0 : kColumns;
  for (std::size_t r = 0; r < kRows; ++r, from += row_stride)
    for (std::size_t k = 0; k < kColumns; ++k) changed[r * kColumns + k] = from[(broadcast & 1) != 0 ? 0 : k] ^ sign;
  return changed.data();
}

// Of integers, eight rows of each.
void execute_integers(Elementwise operation, bool accumulates, unsigned phase, const std::uint32_t* a, const std::uint32_t* b,
                      std::uint32_t* dest) {
  for (std::size_t i = 0; i < kRows * kColumns; ++i) {
    const std::int32_t made = operation == Elementwise::multiply
                                  ? numerics::integer_factor_a(a[i], phase) * numerics::integer_factor_b(b[i], phase)
                                  : numerics::integer_term(a[i]) + numerics::integer_term(b[i]);
    dest[i] = numerics::integer_sum(accumulates ? dest[i] : 0, made);
  }
}

template <Elementwise operation>
Step elementwise(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const MatrixFields kFields("ELWADD");
  static const isa::Field kAccumulate = NamedOpcode("ELWADD").field("accumulate");
  if (!c.src_a.to_compute().valid || !c.src_b.to_compute().valid) return Step::waits;
  if (std::string why = unsupported(c.config, thread); !why.empty()) return c.fail(std::move(why));
  if (check_formats(c, thread) != Step::done) return Step::fault;
  const RowCounters& rows = c.rows[thread];
  if (rows.a % kRows != 0 || rows.b % kRows != 0)
    return c.fail(sentence(Check::alignment, cat("it works from row ", rows.a, " of SrcA and row ", rows.b, " of SrcB on")));
  const Arithmetic how = arithmetic(c.config, thread);
  const bool accumulates = operation == Elementwise::multiply || get(word, kAccumulate) != 0;
  const auto row = use_dest(c, thread, how.dest, get(word, kFields.dst), accumulates, latency::kMatrix);
  if (!row) return Step::fault;
  std::uint32_t* dest = c.dest.row(how.wide, *row, kRows);
  const unsigned phase = (rows.phase + c.config.of_thread(thread, kPhaseBase)) & 3;
  std::array<std::uint32_t, kRows * kColumns> changed;
  const std::uint32_t* b =
      second_operand(c.src_b.to_compute(), rows.b, get(word, kFields.broadcast), operation == Elementwise::subtract, changed);
  const numerics::Elementwise e{
      c.src_a.to_compute().words.data() + rows.a * kColumns, b, dest, kRows * kColumns, how.source, how.dest, phase};
  if (operation != Elementwise::multiply && phase != 0) return c.fail("sums have no fidelity phases");
  if (how.integer) {
    execute_integers(operation, accumulates, phase, e.a, b, dest);
  } else if (operation == Elementwise::multiply) {
    numerics::best_kernels().elwmul(e);
  } else {
    numerics::best_kernels().elwadd(e, accumulates);
  }
  apply_address_mod(c, thread, get(word, kFields.addr_mod));
  return release(c, get(word, kFields.flip));
}

Step mova2d(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("MOVA2D");
  static const isa::Field kDst = kOpcode.field("dst"), kRowCount = kOpcode.field("rows"), kAddrMod = kOpcode.field("addr_mod"),
                          kSrc = kOpcode.field("src"), kLowHalf = kOpcode.field("low_half");
  if (!c.src_a.to_compute().valid) return Step::waits;
  if (get(word, kRowCount) != 2 || get(word, kLowHalf) != 0) return c.fail("this form of MOVA2D is not executed yet");
  const Arithmetic how = arithmetic(c.config, thread);
  const std::uint32_t format = c.config.get(thread, setting::kSrcAFormat), row = get(word, kSrc) + c.rows[thread].a;
  if (how.wide != (format == kTf32) &&
      c.undefined(Check::format_mismatch, "MOVA2D writes a Tf32 into rows of 32 bits, and everything else into rows of 16") != Step::done)
    return Step::fault;
  if (row % kRows != 0 || row >= kSourceRows) return c.fail(sentence(Check::alignment, cat("it moves from row ", row, " of SrcA on")));
  const auto dest_at = use_dest(c, thread, how.dest, get(word, kDst), false, latency::kMove);
  if (!dest_at) return Step::fault;
  c.time.moved_to_dest();
  std::uint32_t* dest = c.dest.row(how.wide, *dest_at, kRows);
  const std::uint32_t* from = c.src_a.to_compute().words.data() + row * kColumns;
  const std::uint32_t kept = how.dest == Dest::bf16 ? 0xffff0000u : 0xffffe000u;
  const bool keeps_denormals = c.config.get(thread, setting::kKeepDenormals) != 0;
  for (std::size_t i = 0; i < kRows * kColumns; ++i) dest[i] = (keeps_denormals ? from[i] : numerics::move_to_dest(from[i])) & kept;
  apply_address_mod(c, thread, get(word, kAddrMod));
  return Step::done;
}

Step zeroacc(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("ZEROACC");
  static const isa::Field kDst = kOpcode.field("dst"), kMode = kOpcode.field("mode"), kAddrMod = kOpcode.field("addr_mod");
  const std::uint32_t dst = get(word, kDst);
  switch (get(word, kMode) & 3) {
    case 1:
      if (dst >= kDestRows / 16) return c.fail(cat("the destination has no 16 rows number ", dst));
      c.dest.clear(std::size_t{16} * dst, 16);
      c.dest_forms.cleared(std::size_t{16} * dst, 16);
      apply_address_mod(c, thread, get(word, kAddrMod));
      return Step::done;
    case 2:
      if (dst > 1) return c.fail(cat("the destination has no half number ", dst));
      c.dest.clear(dst * kDestRows / 2, kDestRows / 2);
      c.dest_forms.cleared(dst * kDestRows / 2, kDestRows / 2);
      return Step::done;
    case 3:
      c.dest.clear();
      c.dest_forms.cleared(0, kDestRows);
      return Step::done;
    default:
      return c.fail("clearing a single row is not executed yet");
  }
}

Step setrwc(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("SETRWC");
  static const isa::Field kWhich = kOpcode.field("which"), kA = kOpcode.field("a"), kB = kOpcode.field("b"), kD = kOpcode.field("d"),
                          kReturn = kOpcode.field("cr"), kFlip = kOpcode.field("flip");
  RowCounters& r = c.rows[thread];
  const std::uint32_t which = get(word, kWhich), returns = get(word, kReturn);
  const auto set = [&](unsigned bit, std::uint32_t& counter, std::uint32_t& start, std::uint32_t value, std::uint32_t size) {
    if ((which >> bit & 1) != 0) counter = start = ((returns >> bit & 1) != 0 ? start + value : value) % size;
  };
  set(0, r.a, r.a_start, get(word, kA), kSourceRows);
  set(1, r.b, r.b_start, get(word, kB), kSourceRows);
  set(2, r.d, r.d_start, get(word, kD), kDestRows);
  if ((which & 8) != 0) r.phase = 0;
  return release(c, get(word, kFlip));
}

Step incrwc(Coprocessor& c, std::size_t thread, std::uint32_t word) {
  static const NamedOpcode kOpcode("INCRWC");
  static const isa::Field kA = kOpcode.field("a"), kB = kOpcode.field("b"), kD = kOpcode.field("d"), kReturn = kOpcode.field("cr");
  RowCounters& r = c.rows[thread];
  const std::uint32_t returns = get(word, kReturn);
  move(r.a, r.a_start, get(word, kA), (returns & 1) != 0, false, kSourceRows);
  move(r.b, r.b_start, get(word, kB), (returns & 2) != 0, false, kSourceRows);
  move(r.d, r.d_start, get(word, kD), (returns & 4) != 0, false, kDestRows);
  return Step::done;
}

}  // namespace

void apply_address_mod(Coprocessor& c, std::size_t thread, std::uint32_t index) {
  if ((c.config.of_thread(thread, kAddressModBase) & 1) != 0) index += 4;
  const std::uint32_t ab = c.config.of_thread(thread, kAddressModsAb + 2 * index), d = c.config.of_thread(thread, kAddressModsDest + index);
  if ((ab | d) == 0) return;  // nothing moves
  RowCounters& r = c.rows[thread];
  move(r.a, r.a_start, ab & 63, (ab & 1u << 6) != 0, (ab & 1u << 7) != 0, kSourceRows);
  move(r.b, r.b_start, ab >> 8 & 63, (ab & 1u << 14) != 0, (ab & 1u << 15) != 0, kSourceRows);
  if ((d & 1u << 12) != 0) {
    r.d = r.d_start = (r.d + (d & 1023)) % kDestRows;
  } else {
    move(r.d, r.d_start, d & 1023, (d & 1u << 10) != 0, (d & 1u << 11) != 0, kDestRows);
  }
  r.phase = (d & 1u << 15) != 0 ? 0 : (r.phase + (d >> 13 & 3)) & 3;
}

std::uint32_t first_dest_row(const Coprocessor& c, std::size_t thread, std::uint32_t dst) {
  return (c.rows[thread].d + dst + (c.config.of_thread(thread, kDestOffset) & 4095u)) % kDestRows;
}

void execute_products(Coprocessor& c, std::size_t thread) {
  constexpr std::size_t kAtOnce = 32;
  const Arithmetic how = arithmetic(c.config, thread);
  for (std::span<const Product> rest = c.products; !rest.empty();) {
    if (how.integer) {
      execute_integers(c, rest.front());
      rest = rest.subspan(1);
      continue;
    }
    const auto part = rest.first(std::min(rest.size(), kAtOnce));
    std::array<bool, kAtOnce> done = {};
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (done[i]) continue;
      const std::size_t other = partner(part, done, i);
      execute(c, how, part[i], other == i ? nullptr : &part[other]);
      done[i] = done[other] = true;
    }
    rest = rest.subspan(part.size());
  }
  c.products.clear();
}

std::span<const NamedExecute> matrix_instructions() {
  static constexpr NamedExecute kAll[] = {
      {"MVMUL", &mvmul},
      {"ELWADD", &elementwise<Elementwise::add>},
      {"ELWSUB", &elementwise<Elementwise::subtract>},
      {"ELWMUL", &elementwise<Elementwise::multiply>},
      {"MOVA2D", &mova2d},
      {"ZEROACC", &zeroacc},
      {"SETRWC", &setrwc},
      {"INCRWC", &incrwc},
  };
  return kAll;
}

}  // namespace buda::tensix
