// SPDX-License-Identifier: Apache-2.0
// The vector unit's instructions, for vectors of any width: compiled by each file that includes this for its instruction set, so that
// everything here has internal linkage. (A file long because each of them makes one class of all instructions.)
#pragma once

#include <buda/numerics/vector_functions.hpp>
#include <buda/numerics/vector_mad.hpp>

namespace buda::numerics {
namespace {

// The numbers from 0 to count - 1.
template <std::size_t count, std::size_t... numbers>
struct CountTo : CountTo<count - 1, count - 1, numbers...> {};
template <std::size_t... numbers>
struct CountTo<0, numbers...> {};

// `Isa`: as for MultiplyAdd.
template <class Isa>
struct VectorMachine {  // wide because it has a function for each instruction
  using Ints = typename Isa::Ints;
  using Unsigned = typename Isa::Unsigned;
  using Floats = typename Isa::Floats;
  static constexpr std::size_t kLanes = sizeof(Ints) / 4;
  static constexpr std::int32_t kSign = static_cast<std::int32_t>(kSignBit), kInfinity = 0x7f800000, kOne = 0x3f800000;

  static Ints load(const std::uint32_t* from) {
    Ints v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(Ints v, std::uint32_t* to) { __builtin_memcpy(to, &v, sizeof v); }
  static Ints all(std::int32_t value) { return Ints{} + value; }
  static Ints select(Ints mask, Ints a, Ints b) { return (a & mask) | (b & ~mask); }
  static Ints larger(Ints a, Ints b) { return a > b ? a : b; }
  static Ints smaller(Ints a, Ints b) { return a < b ? a : b; }
  static Ints right(Ints v, Ints by) {
    return __builtin_bit_cast(Ints, __builtin_bit_cast(Unsigned, v) >> __builtin_bit_cast(Unsigned, by));
  }

  static Ints exponent(Ints x) { return x >> 23 & 255; }
  static Ints with_exponent(Ints x, Ints e) { return (x & ~(255 << 23)) | (e << 23); }
  static Ints is_nan(Ints x) { return ((x & ~kSign) > kInfinity); }
  static Ints is_zero(Ints x) { return (exponent(x) == 0); }

  static Ints mad(Ints x, Ints y, Ints z) { return MultiplyAdd<Isa>::mad(x, y, z); }

  static Ints order(Ints x) { return x ^ ((x >> 31) & ~kSign); }

  // The nearest number with `dropped` bits less: halves away from zero, NaN an infinity, denormals +0.
  static Ints rounded(Ints x, int dropped) {
    const Ints r = (x + (1 << (dropped - 1))) & -(1 << dropped);
    return select((exponent(x) == 255), x & (kSign | kInfinity), r) & ~is_zero(x);
  }
  // The nearest integer of up to `largest`, as sign and magnitude: halves away from zero.
  static Ints rounded_to_integer(Ints x, std::int32_t largest, bool keeps_sign) {
    const Ints e = exponent(x) - 127, m = (x & 0x7fffff) | 0x800000;
    // Only -1 <= e < 16 counts: one bit of the fraction is kept, which rounds.
    const Ints halves = right(m, smaller(larger(22 - e, all(0)), all(31)));
    const Ints magnitude = select((e >= 16), all(largest), select((e < -1), all(0), smaller((halves + 1) >> 1, all(largest))));
    const Ints sign = keeps_sign ? x & kSign & (magnitude != 0) : Ints{};
    return magnitude | sign;
  }
  static Ints float_of(Ints x) {
    const Ints sign = x & kSign, m = x & ~kSign;
    // Halves apart, so that each is exact, and their sum is rounded once, to even.
    const Floats high = __builtin_convertvector(m >> 16, Floats) * 65536.0f, low = __builtin_convertvector(m & 0xffff, Floats);
    return sign | __builtin_bit_cast(Ints, high + low);
  }

  // SFPLOAD: a fp16 gets an exponent of 8 bits; one without an exponent stays without.
  template <Dest form>
  static Ints loaded(Ints word) {
    if constexpr (form != Dest::fp16) return word;
    return word + ((exponent(word) != 0) & (112 << 23));
  }
  // SFPSTORE: cuts.
  template <Dest form>
  static Ints stored(Ints x) {
    if constexpr (form != Dest::fp16) {
      const Ints kept = select(is_zero(x), x & kSign, x);
      return form == Dest::fp32 ? kept : kept & static_cast<std::int32_t>(0xffff0000u);
    }
    const Ints r = x & -(1 << 13), e = exponent(r) - 112;
    const Ints word = select((e > 31), (r & kSign) | static_cast<std::int32_t>(kLargestFp16), with_exponent(r, e & 31));
    return select((e <= 0), r & kSign, word);
  }
  // SFP_STOCH_RND without its random part, and SFPSTORE.
  template <Dest form>
  static Ints rounded_and_stored(Ints x) {
    return stored<form>(form == Dest::fp32 ? x : rounded(x, form == Dest::bf16 ? 16 : 13));
  }

  static Ints reg(const VectorState& s, std::size_t index, std::size_t lane) {
    Ints v;
    __builtin_memcpy(&v, s.registers[index] + lane, sizeof v);
    return v;
  }
  static Ints flags_at(const VectorState& s, std::size_t lane) {
    Ints v;
    __builtin_memcpy(&v, s.flags.lanes + lane, sizeof v);
    return v;
  }
  static void put(std::int32_t* to, Ints v) { __builtin_memcpy(to, &v, sizeof v); }

  // d = value(lane) where the lane is on.
  template <class Value>
  static VectorFault set(VectorState& s, std::size_t d, Value value) {
    if (d >= 8) return VectorFault::read_only_register;
    const bool on = s.flags.on;
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints v = value(lane);
      put(s.registers[d] + lane, on ? select(flags_at(s, lane), v, reg(s, d, lane)) : v);
    }
    return VectorFault::none;
  }
  // The flags of lanes that are on = condition(lane).
  template <class Condition>
  static void set_flags(VectorState& s, Condition condition) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints on = s.flags.on ? flags_at(s, lane) : all(-1);
      put(s.flags.lanes + lane, select(on, condition(lane), flags_at(s, lane)));
    }
  }
  static void fill_flags(VectorState& s, std::int32_t value) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) put(s.flags.lanes + lane, all(value));
  }

  static VectorFault test(const VectorInstruction& i, VectorState& s) {
    if (!s.flags.on || i.mod > 6 || i.mod % 2 != 0) return VectorFault::unknown_mode;
    set_flags(s, [&](std::size_t lane) -> Ints {
      const Ints c = reg(s, i.c, lane);
      if (i.mod == 0) return (c < 0);
      if (i.mod == 2) return (c != 0);
      return i.mod == 4 ? (c >= 0) : (c == 0);
    });
    return VectorFault::none;
  }

  template <VectorOp op>
  static VectorFault change_flags(const VectorInstruction& i, VectorState& s) {
    if constexpr (op == VectorOp::push_flags) {
      if (s.depth == kFlagDepth) return VectorFault::flag_stack;
      s.stack[s.depth++] = s.flags;
    } else if constexpr (op == VectorOp::pop_flags) {
      if (s.depth == 0) return VectorFault::flag_stack;
      s.flags = s.stack[--s.depth];
    } else if constexpr (op == VectorOp::set_flags) {
      if (i.mod != 0 && i.mod != 10) return VectorFault::unknown_mode;
      fill_flags(s, i.mod == 0 || (i.immediate & 2) != 0 ? -1 : 0);
      if (i.mod == 10) s.flags.on = (i.immediate & 1) != 0;
    } else {
      if (!s.flags.on) return VectorFault::unknown_mode;
      for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
        Ints before = all(-1);
        if (s.depth > 0) __builtin_memcpy(&before, s.stack[s.depth - 1].lanes + lane, sizeof before);
        put(s.flags.lanes + lane, before & ~flags_at(s, lane));
      }
    }
    return VectorFault::none;
  }

  static VectorFault load_immediate(const VectorInstruction& i, VectorState& s) {
    const std::int32_t value = i.immediate & 0xffff, upper = value << 16;
    if (i.mod == 8) return set(s, i.d, [&](std::size_t lane) { return (reg(s, i.d, lane) & 0xffff) | upper; });
    if (i.mod == 10) return set(s, i.d, [&](std::size_t lane) { return (reg(s, i.d, lane) & ~0xffff) | value; });
    if (i.mod != 0 && i.mod != 2 && i.mod != 4) return VectorFault::unknown_mode;
    const Ints whole = all(i.mod == 0 ? upper : i.mod == 2 ? value : upper >> 16);
    return set(s, i.d, [&](std::size_t) { return whole; });
  }

  static VectorFault integer_add(const VectorInstruction& i, VectorState& s) {
    const auto sum = [&](std::size_t lane) {
      const Ints c = reg(s, i.c, lane);
      return (i.mod & 1) != 0 ? c + i.immediate : (i.mod & 2) != 0 ? c - reg(s, i.d, lane) : c + reg(s, i.d, lane);
    };
    if ((i.mod & 3) == 3) return VectorFault::unknown_mode;
    if ((i.mod & 4) != 0 && (i.mod & 8) == 0) return set(s, i.d, sum);
    // Flags change only after the sum, which is in the lanes that were on.
    if (i.d >= 8) return VectorFault::read_only_register;
    const bool flags_on = s.flags.on, turns = (i.mod & 8) != 0;
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints on = flags_on ? flags_at(s, lane) : all(-1), v = sum(lane), negative = (v < 0);
      put(s.registers[i.d] + lane, select(on, v, reg(s, i.d, lane)));
      put(s.flags.lanes + lane, select(on, turns ? ~negative : negative, flags_at(s, lane)));
    }
    return VectorFault::none;
  }

  static Ints shifted(Ints x, Ints by) { return select((by >= 0), x << (by & 31), right(x, -by & 31)); }

  static VectorFault random(VectorState& s, std::size_t d) {
    const VectorFault fault = set(s, d, [&](std::size_t lane) {
      Ints v;
      __builtin_memcpy(&v, s.random + lane, sizeof v);
      return v;
    });
    step_random(s);
    return fault;
  }
  static void step_random(VectorState& s) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      Unsigned state;
      __builtin_memcpy(&state, s.random + lane, sizeof state);
      const Ints next = __builtin_bit_cast(Ints, next_random(state)), same = __builtin_bit_cast(Ints, state);
      const Ints stepped = s.flags.on ? select(flags_at(s, lane), next, same) : next;
      __builtin_memcpy(s.random + lane, &stepped, sizeof stepped);
    }
  }
  // Of words without sign, or of vectors of them.
  template <class Word>
  static Word next_random(Word state) {
    return ~(state ^ state >> 1 ^ state >> 21 ^ state >> 31) << 31 | state >> 1;
  }

  static VectorFault round(const VectorInstruction& i, VectorState& s) {
    constexpr std::int32_t kLargest[] = {0, 0, 255, 127, 255, 127, 65535, 32767};
    if (i.mod > 7 || i.mod == 4 || i.mod == 5) return VectorFault::unknown_mode;
    step_random(s);
    return set(s, i.d, [&](std::size_t lane) {
      const Ints c = reg(s, i.c, lane);
      if (i.mod == 1) return rounded(c, 16);
      return i.mod == 0 ? rounded(c, 13) : rounded_to_integer(c, kLargest[i.mod], i.mod % 2 != 0);
    });
  }

  static VectorFault sort(const VectorInstruction& i, VectorState& s) {
    if (i.mod > 3 || (s.carries && (i.c >= 4 || i.d >= 4))) return VectorFault::unknown_mode;
    if (i.d >= 8 || i.c >= 8) return VectorFault::read_only_register;
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints c = reg(s, i.c, lane), d = reg(s, i.d, lane);
      Ints exchanges = i.mod == 0 ? all(-1) : (order(c) < order(d)) ^ turned_rows(i.mod, lane);
      if (s.flags.on) exchanges = exchanges & flags_at(s, lane);
      exchange(s, i.c, i.d, lane, exchanges);
      if (s.carries) exchange(s, i.c + 4u, i.d + 4u, lane, exchanges);
    }
    return VectorFault::none;
  }
  static void exchange(VectorState& s, std::size_t a, std::size_t b, std::size_t lane, Ints where) {
    const Ints x = reg(s, a, lane), y = reg(s, b, lane);
    put(s.registers[a] + lane, select(where, y, x));
    put(s.registers[b] + lane, select(where, x, y));
  }
  // All ones in the lanes, from `first` on, whose rows a mode of sort turns.
  static Ints turned_rows(std::uint8_t mod, std::size_t first) {
    Ints turned = {};
    if (mod < 2) return turned;
    for (std::size_t k = 0; k < kLanes; ++k) {
      const std::size_t row = (first + k) / 8;
      turned[k] = (mod == 2 ? row >= 2 : row % 2 == 1) ? -1 : 0;
    }
    return turned;
  }

  static VectorFault rotate(const VectorInstruction& i, VectorState& s) {
    if (i.mod != 3) return VectorFault::unknown_mode;
    if (i.d >= 8) return VectorFault::read_only_register;
    std::int32_t from[kVectorLanes];
    __builtin_memcpy(from, s.registers[i.c], sizeof from);
    for (std::size_t lane = 0; lane < kVectorLanes; ++lane)
      if (!s.flags.on || s.flags.lanes[lane] != 0) s.registers[i.d][lane] = from[lane % 8 == 0 ? lane + 7 : lane - 1];
    return VectorFault::none;
  }

  static VectorFault transpose(VectorState& s) {
    if (s.flags.on)
      for (std::int32_t flag : s.flags.lanes)
        if (flag == 0) return VectorFault::unknown_mode;
    for (std::size_t base = 0; base < 8; base += 4)
      for (std::size_t i = 1; i < 4; ++i)
        for (std::size_t j = 0; j < i; ++j)
          for (std::size_t k = 0; k < 8; ++k) {
            std::int32_t &a = s.registers[base + i][j * 8 + k], &b = s.registers[base + j][i * 8 + k];
            const std::int32_t kept = a;
            a = b;
            b = kept;
          }
    return VectorFault::none;
  }

  static VectorFault set_constant(const VectorInstruction& i, VectorState& s) {
    if (i.d == 15) {
      if (i.mod != 1 || (i.immediate & ~4) != 0) return VectorFault::unknown_mode;
      s.carries = i.immediate == 4;
      return VectorFault::none;
    }
    if (i.d < 11 || i.d > 14 || i.mod > 1 || (i.mod == 1 && i.d != 11)) return VectorFault::unknown_mode;
    const std::int32_t value = i.mod == 1 ? kOne ^ kSign : s.registers[0][0];
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) put(s.registers[i.d] + lane, all(value));
    return VectorFault::none;
  }

  // d = what an instruction makes of c and d.
  template <VectorOp op>
  static Ints made_of(const VectorInstruction& i, Ints c, Ints d) {
    if constexpr (op == VectorOp::exponent) return i.mod == 1 ? exponent(c) : exponent(c) - 127;
    if constexpr (op == VectorOp::fraction) return i.mod == 1 ? c & 0x7fffff : (c & 0x7fffff) | 0x800000;
    if constexpr (op == VectorOp::bit_and) return c & d;
    if constexpr (op == VectorOp::bit_or) return c | d;
    if constexpr (op == VectorOp::bit_xor) return c ^ d;
    if constexpr (op == VectorOp::bit_not) return ~c;
    if constexpr (op == VectorOp::shift) return shifted(d, i.mod == 1 ? all(i.immediate) : c);
    if constexpr (op == VectorOp::with_exponent)
      return with_exponent(c, (i.mod == 1 ? all(i.immediate) : i.mod == 2 ? exponent(d) : d) & 255);
    if constexpr (op == VectorOp::with_sign) return (c & ~kSign) | (i.mod == 1 ? all(i.immediate << 31) : d & kSign);
    if constexpr (op == VectorOp::absolute) return i.mod == 0 ? select((c < 0), -c, c) : select(is_nan(c) & (c < 0), c, c & ~kSign);
    return float_of(c);
  }

  static VectorFault move(const VectorInstruction& i, VectorState& s) {
    if (i.mod == 8) return i.c == 9 ? random(s, i.d) : VectorFault::unknown_mode;
    if (i.mod > 2) return VectorFault::unknown_mode;
    if (i.mod == 2) {
      const bool on = s.flags.on;
      s.flags.on = false;
      const VectorFault fault = set(s, i.d, [&](std::size_t lane) { return reg(s, i.c, lane); });
      s.flags.on = on;
      return fault;
    }
    const std::int32_t turned = i.mod == 1 ? kSign : 0;
    return set(s, i.d, [&](std::size_t lane) { return reg(s, i.c, lane) ^ turned; });
  }

  template <VectorOp op>
  static VectorFault run(const VectorInstruction& i, VectorState& s) {
    if constexpr (op == VectorOp::nop) {
      return VectorFault::none;
    } else if constexpr (op == VectorOp::load_immediate) {
      return load_immediate(i, s);
    } else if constexpr (op == VectorOp::mad) {
      if (i.mod != 0) return VectorFault::unknown_mode;
      return set(s, i.d, [&](std::size_t lane) { return mad(reg(s, i.a, lane), reg(s, i.b, lane), reg(s, i.c, lane)); });
    } else if constexpr (op == VectorOp::integer_add) {
      return integer_add(i, s);
    } else if constexpr (op == VectorOp::test) {
      return test(i, s);
    } else if constexpr (op == VectorOp::move) {
      return move(i, s);
    } else if constexpr (op == VectorOp::push_flags || op == VectorOp::pop_flags || op == VectorOp::set_flags ||
                         op == VectorOp::invert_flags) {
      return change_flags<op>(i, s);
    } else if constexpr (op == VectorOp::sort) {
      return sort(i, s);
    } else if constexpr (op == VectorOp::round) {
      return round(i, s);
    } else if constexpr (op == VectorOp::rotate) {
      return rotate(i, s);
    } else if constexpr (op == VectorOp::transpose) {
      return transpose(s);
    } else if constexpr (op == VectorOp::set_constant) {
      return set_constant(i, s);
    } else {
      return set(s, i.d, [&](std::size_t lane) { return made_of<op>(i, reg(s, i.c, lane), reg(s, i.d & 7u, lane)); });
    }
  }

  static VectorHandler handler(VectorOp op) {  // long because it names each operation
    switch (op) {
      case VectorOp::nop:
        return &run<VectorOp::nop>;
      case VectorOp::load_immediate:
        return &run<VectorOp::load_immediate>;
      case VectorOp::mad:
        return &run<VectorOp::mad>;
      case VectorOp::exponent:
        return &run<VectorOp::exponent>;
      case VectorOp::fraction:
        return &run<VectorOp::fraction>;
      case VectorOp::integer_add:
        return &run<VectorOp::integer_add>;
      case VectorOp::shift:
        return &run<VectorOp::shift>;
      case VectorOp::test:
        return &run<VectorOp::test>;
      case VectorOp::move:
        return &run<VectorOp::move>;
      case VectorOp::absolute:
        return &run<VectorOp::absolute>;
      case VectorOp::bit_and:
        return &run<VectorOp::bit_and>;
      case VectorOp::bit_or:
        return &run<VectorOp::bit_or>;
      case VectorOp::bit_xor:
        return &run<VectorOp::bit_xor>;
      case VectorOp::bit_not:
        return &run<VectorOp::bit_not>;
      case VectorOp::with_exponent:
        return &run<VectorOp::with_exponent>;
      case VectorOp::with_sign:
        return &run<VectorOp::with_sign>;
      case VectorOp::push_flags:
        return &run<VectorOp::push_flags>;
      case VectorOp::pop_flags:
        return &run<VectorOp::pop_flags>;
      case VectorOp::set_flags:
        return &run<VectorOp::set_flags>;
      case VectorOp::invert_flags:
        return &run<VectorOp::invert_flags>;
      case VectorOp::sort:
        return &run<VectorOp::sort>;
      case VectorOp::float_of:
        return &run<VectorOp::float_of>;
      case VectorOp::round:
        return &run<VectorOp::round>;
      case VectorOp::rotate:
        return &run<VectorOp::rotate>;
      case VectorOp::transpose:
        return &run<VectorOp::transpose>;
      case VectorOp::set_constant:
        return &run<VectorOp::set_constant>;
    }
    return nullptr;
  }

  static VectorFault execute(const VectorInstruction& i, VectorState& s) { return handler(i.op)(i, s); }

  template <Dest form>
  static void load_as(const std::uint32_t* words, std::size_t to, VectorState& s) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints v = loaded<form>(load(words + lane));
      put(s.registers[to] + lane, s.flags.on ? select(flags_at(s, lane), v, reg(s, to, lane)) : v);
    }
  }
  template <Dest form>
  static void store_rounded(std::size_t from, const VectorState& s, std::uint32_t* words) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints v = rounded_and_stored<form>(reg(s, from, lane));
      store(s.flags.on ? select(flags_at(s, lane), v, load(words + lane)) : v, words + lane);
    }
  }

  // Every other word of two vectors, from the first or from the second on.
  template <bool odd, std::size_t... k>
  static Ints every_other(Ints low, Ints high, CountTo<0, k...>) {
    return __builtin_shufflevector(low, high, (2 * k + odd)...);
  }
  // Words of which every other one is replaced, by the lower or the upper half of a vector.
  template <bool odd, bool upper, std::size_t... k>
  static Ints with_every_other(Ints words, Ints v, CountTo<0, k...>) {
    return __builtin_shufflevector(words, v, (k % 2 == odd ? kLanes + (upper ? kLanes / 2 : 0) + k / 2 : k)...);
  }
  static constexpr CountTo<kLanes> kCount = {};

  template <Dest form, bool odd>
  static void load_columns(const std::uint32_t* rows, std::size_t to, VectorState& s) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints v = loaded<form>(every_other<odd>(load(rows + 2 * lane), load(rows + 2 * lane + kLanes), kCount));
      put(s.registers[to] + lane, s.flags.on ? select(flags_at(s, lane), v, reg(s, to, lane)) : v);
    }
  }
  template <bool odd>
  static void load_columns_as(Dest form, const std::uint32_t* rows, std::size_t to, VectorState& s) {
    if (form == Dest::fp32) return load_columns<Dest::fp32, odd>(rows, to, s);
    if (form == Dest::bf16) return load_columns<Dest::bf16, odd>(rows, to, s);
    load_columns<Dest::fp16, odd>(rows, to, s);
  }
  static void load_rows(Dest form, bool odd, const std::uint32_t* rows, std::size_t to, VectorState& s) {
    odd ? load_columns_as<true>(form, rows, to, s) : load_columns_as<false>(form, rows, to, s);
  }

  template <Dest form, bool odd>
  static void store_columns(std::size_t from, const VectorState& s, std::uint32_t* rows) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints low = load(rows + 2 * lane), high = load(rows + 2 * lane + kLanes);
      Ints v = stored<form>(reg(s, from, lane));
      if (s.flags.on) v = select(flags_at(s, lane), v, every_other<odd>(low, high, kCount));
      store(with_every_other<odd, false>(low, v, kCount), rows + 2 * lane);
      store(with_every_other<odd, true>(high, v, kCount), rows + 2 * lane + kLanes);
    }
  }
  template <bool odd>
  static void store_columns_as(Dest form, std::size_t from, const VectorState& s, std::uint32_t* rows) {
    if (form == Dest::fp32) return store_columns<Dest::fp32, odd>(from, s, rows);
    if (form == Dest::bf16) return store_columns<Dest::bf16, odd>(from, s, rows);
    store_columns<Dest::fp16, odd>(from, s, rows);
  }
  static void store_rows(Dest form, bool odd, std::size_t from, const VectorState& s, std::uint32_t* rows) {
    odd ? store_columns_as<true>(form, from, s, rows) : store_columns_as<false>(form, from, s, rows);
  }

  static void store_bits(std::size_t from, const VectorState& s, std::uint32_t* words) {
    for (std::size_t lane = 0; lane < kVectorLanes; lane += kLanes) {
      const Ints x = reg(s, from, lane);
      store(s.flags.on ? select(flags_at(s, lane), x, load(words + lane)) : x, words + lane);
    }
  }

  template <Dest form>
  static void apply_as(const VectorCall& c) {
    VectorState s;
    s.flags.on = true;
    for (std::size_t r = 9; r < 12; ++r)
      for (std::size_t lane = 0; lane < kVectorLanes; ++lane) s.registers[r][lane] = r == 9 ? 0 : r == 10 ? kOne : kOne ^ kSign;
    std::uint32_t words[2][kVectorLanes] = {};
    for (std::size_t i = 0; i < c.count; i += kVectorLanes) {
      const std::size_t count = c.count - i < kVectorLanes ? c.count - i : kVectorLanes;
      fill_flags(s, -1);
      __builtin_memcpy(words[0], c.numbers + i, count * sizeof(std::uint32_t));
      load_as<form>(words[0], 0, s);
      if (c.second != nullptr) {
        __builtin_memcpy(words[1], c.second + i, count * sizeof(std::uint32_t));
        load_as<form>(words[1], 1, s);
      }
      for (std::size_t k = 0; k < c.length; ++k) execute(c.program[k], s);
      if (c.keeps_bits) {
        store_bits(c.result, s, words[0]);
      } else {
        store_rounded<form>(c.result, s, words[0]);
      }
      __builtin_memcpy(c.numbers + i, words[0], count * sizeof(std::uint32_t));
    }
  }

  static void apply(const VectorCall& c) {
    if (c.form == Dest::fp32) return apply_as<Dest::fp32>(c);
    if (c.form == Dest::bf16) return apply_as<Dest::bf16>(c);
    apply_as<Dest::fp16>(c);
  }

  static void mad_all(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* result, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLanes) store(mad(load(a + i), load(b + i), load(c + i)), result + i);
  }

  static constexpr VectorUnit unit(const char* name) { return {name, &apply, &execute, &handler, &load_rows, &store_rows, &mad_all}; }
};

}  // namespace
}  // namespace buda::numerics
