// SPDX-License-Identifier: Apache-2.0
// The vector unit: its multiply-add by hand, and what its instructions do to registers and flags.
#include "words.hpp"

#include <buda/base/rng.hpp>
#include <buda/numerics/fields.hpp>
#include <buda/numerics/vector_functions.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace buda::numerics {
namespace {

std::uint32_t mad(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::array<std::uint32_t, 16> x, y, z, result;
  x.fill(a);
  y.fill(b);
  z.fill(c);
  portable_vector_unit().mad(x.data(), y.data(), z.data(), result.data(), 16);
  return result[15];
}

TEST(Mad, RoundsToTheNearestEvenNumber) {
  EXPECT_EQ(mad(word(3), word(-2.5), word(1)), word(-6.5));
  EXPECT_EQ(mad(word(1), word(1), word(0x1p-24f)), word(1));  // a half, to even
  EXPECT_EQ(mad(word(1), word(1 + 0x1p-23f), word(0x1p-24f)), word(1 + 0x1p-22f));
  // Below the three more bits that an addend has, a bit is remembered only if others remain; 2^-52 is gone.
  EXPECT_EQ(mad(word(1), word(1 + 0x1p-23f), word(-0x1p-52f)), word(1 + 0x1p-23f));
}

TEST(Mad, FlushesDenormalsToPlusZero) {
  EXPECT_EQ(mad(0x007fffffu, word(2), word(0)), 0u);
  EXPECT_EQ(mad(word(-0x1p-126f), word(0.5f), word(0)), 0u);
  EXPECT_EQ(mad(word(-1), word(0), kSignBit), 0u);
  EXPECT_EQ(mad(word(0), word(5), word(-3)), word(-3));
}

TEST(Mad, KnowsInfinitiesAndNaN) {
  EXPECT_EQ(mad(word(kInfinity), word(-2), word(1)), word(-kInfinity));
  EXPECT_EQ(mad(word(0x1p127f), word(2), word(0)), word(kInfinity));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(mad(word(kInfinity), word(0), word(1)))));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(mad(word(kInfinity), word(1), word(-kInfinity)))));
  EXPECT_EQ(mad(0x7fc00000u, word(1), word(1)) & 1u, 1u);
}

// Where no lane adds anything, the sum is left out: with the bits that lanes beside one that adds something get.
TEST(Mad, MultipliesAlone) {
  constexpr std::uint32_t kZeros[] = {0, kSignBit, 0x00000001, 0x807fffff};
  Rng rng;
  for (const VectorUnit* unit : {&portable_vector_unit(), runnable_avx2_vector_unit(), runnable_avx512_vector_unit()}) {
    if (unit == nullptr) continue;
    for (int n = 0; n < 20'000; ++n) {
      std::array<std::uint32_t, 16> x, y, zeros, beside, alone, wanted;
      for (std::size_t i = 0; i < x.size(); ++i) {
        // Products from denormal ones to the largest.
        x[i] = static_cast<std::uint32_t>(rng.next());
        const std::uint32_t e = static_cast<std::uint32_t>(120 + rng.below(140)) - (x[i] >> 23 & 127) - (n % 2 == 0 ? 0 : 60);
        y[i] = (static_cast<std::uint32_t>(rng.next()) & 0x807fffffu) | (e & 255) << 23;
        zeros[i] = kZeros[rng.below(4)];
        beside[i] = i % 4 == 3 ? word(1.5) : zeros[i];
      }
      unit->mad(x.data(), y.data(), zeros.data(), alone.data(), 16);
      unit->mad(x.data(), y.data(), beside.data(), wanted.data(), 16);
      for (std::size_t i = 0; i < x.size(); ++i)
        if (i % 4 != 3) ASSERT_EQ(alone[i], wanted[i]) << unit->name << ": " << x[i] << " * " << y[i];
    }
  }
}

VectorState executed(std::initializer_list<VectorInstruction> instructions, VectorState state) {
  for (const VectorInstruction& i : instructions) {
    VectorState portable = state;
    EXPECT_EQ(best_vector_unit().execute(i, state), VectorFault::none);
    EXPECT_EQ(portable_vector_unit().execute(i, portable), VectorFault::none);
    for (std::size_t r = 0; r < kVectorRegisters; ++r)
      EXPECT_TRUE(std::equal(std::begin(state.registers[r]), std::end(state.registers[r]), std::begin(portable.registers[r])));
  }
  return state;
}

VectorState with(std::int32_t first) {
  VectorState state;
  reset_vector_state(state);
  for (std::size_t lane = 0; lane < kVectorLanes; ++lane) state.registers[0][lane] = first + static_cast<std::int32_t>(lane);
  state.flags.on = true;
  std::fill(std::begin(state.flags.lanes), std::end(state.flags.lanes), -1);
  return state;
}

TEST(VectorUnit, ActsInTheLanesWhoseFlagIsSet) {
  // Lanes 0 to 15 hold negative numbers: they get 1, the others 2.
  const VectorState s = executed({{.op = VectorOp::push_flags},
                                  {.op = VectorOp::test, .mod = 0, .c = 0},
                                  {.op = VectorOp::load_immediate, .mod = 2, .d = 1, .immediate = 1},
                                  {.op = VectorOp::invert_flags},
                                  {.op = VectorOp::load_immediate, .mod = 2, .d = 1, .immediate = 2},
                                  {.op = VectorOp::pop_flags},
                                  {.op = VectorOp::integer_add, .mod = 5, .d = 2, .c = 1, .immediate = -1}},
                                 with(-16));
  for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
    EXPECT_EQ(s.registers[1][lane], lane < 16 ? 1 : 2);
    EXPECT_EQ(s.registers[2][lane], lane < 16 ? 0 : 1);
  }
}

TEST(VectorUnit, LoadsAndStoresEveryOtherColumn) {
  std::array<std::uint32_t, 2 * kVectorLanes> rows;  // 16 columns each
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = word(1 + static_cast<float>(i) / 1024);
  for (const VectorUnit* unit : {&best_vector_unit(), &portable_vector_unit(), runnable_avx2_vector_unit(), runnable_avx512_vector_unit()})
    for (const bool odd : {false, true})
      for (const bool all_on : {false, true}) {
        if (unit == nullptr) continue;
        VectorState s = with(0);
        if (!all_on) s.flags.lanes[5] = 0;
        unit->load(Dest::fp32, odd, rows.data(), 3, s);
        auto stored = rows;
        unit->store(Dest::bf16, odd, 3, s, stored.data());
        for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
          const std::size_t at = 2 * lane + (odd ? 1 : 0);
          const bool on = all_on || lane != 5;
          EXPECT_EQ(static_cast<std::uint32_t>(s.registers[3][lane]), on ? rows[at] : 0u) << unit->name;
          EXPECT_EQ(stored[at], on ? rows[at] & 0xffff0000u : rows[at]) << unit->name;
          EXPECT_EQ(stored[at ^ 1], rows[at ^ 1]) << unit->name;
        }
      }
}

TEST(VectorUnit, SortsInTheOrderOfSignAndMagnitude) {
  VectorState state = with(0);
  const std::uint32_t a[] = {word(1), word(-1), 0u, kSignBit}, b[] = {word(2), word(-2), kSignBit, 0u};
  for (std::size_t lane = 0; lane < 4; ++lane) {
    state.registers[0][lane] = static_cast<std::int32_t>(a[lane]);
    state.registers[1][lane] = static_cast<std::int32_t>(b[lane]);
  }
  const VectorState s = executed({{.op = VectorOp::sort, .mod = 1, .d = 0, .c = 1}}, state);
  const std::uint32_t smaller[] = {word(1), word(-2), kSignBit, kSignBit};
  for (std::size_t lane = 0; lane < 4; ++lane) EXPECT_EQ(static_cast<std::uint32_t>(s.registers[0][lane]), smaller[lane]);
}

// The larger number of each pair into register 1, in some rows of lanes into register 0; equal ones are exchanged there.
TEST(VectorUnit, CarriesRegistersWithThoseThatItSorts) {
  VectorState state;
  for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
    state.registers[0][lane] = static_cast<std::int32_t>(word(lane % 8 == 7 ? 3.0f : 2.0f));
    state.registers[1][lane] = static_cast<std::int32_t>(word(lane % 8 == 0 ? 1.0f : 3.0f));
    state.registers[4][lane] = 10;
    state.registers[5][lane] = 11;
  }
  const VectorInstruction carry{.op = VectorOp::set_constant, .mod = 1, .d = 15, .immediate = 4};
  const auto sorted = [&](std::uint8_t mod) { return executed({carry, {.op = VectorOp::sort, .mod = mod, .d = 0, .c = 1}}, state); };
  for (std::uint8_t mod : {1, 2, 3}) {
    const VectorState s = sorted(mod);
    for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
      const bool turned = mod == 2 ? lane >= 16 : mod == 3 && lane / 8 % 2 == 1, first_larger = lane % 8 == 0, equal = lane % 8 == 7;
      const bool exchanged = turned ? !first_larger : first_larger;
      EXPECT_EQ(s.registers[4][lane], exchanged ? 11 : 10) << int{mod} << ' ' << lane << (equal ? " equal" : "");
      EXPECT_EQ(s.registers[0][lane], state.registers[exchanged ? 1 : 0][lane]);
      EXPECT_EQ(s.registers[5][lane], exchanged ? 10 : 11);
    }
  }
  VectorState s = sorted(1);
  EXPECT_EQ(best_vector_unit().execute({.op = VectorOp::sort, .mod = 1, .d = 0, .c = 5}, s), VectorFault::unknown_mode);
}

TEST(VectorUnit, RoundsAndMakesFloatsOfIntegers) {
  VectorState state = with(0);
  const float numbers[] = {2.5f, -2.5f, 1000.0f, -0.4f};
  for (std::size_t lane = 0; lane < 4; ++lane) state.registers[0][lane] = std::bit_cast<std::int32_t>(numbers[lane]);
  const VectorState s = executed({{.op = VectorOp::round, .mod = 3, .d = 1, .c = 0},
                                  {.op = VectorOp::round, .mod = 1, .d = 2, .c = 0},
                                  {.op = VectorOp::float_of, .d = 3, .c = 1}},
                                 state);
  const std::uint32_t integers[] = {3u, kSignBit | 3u, 127u, 0u};
  const float again[] = {3.0f, -3.0f, 127.0f, 0.0f};
  for (std::size_t lane = 0; lane < 4; ++lane) {
    EXPECT_EQ(static_cast<std::uint32_t>(s.registers[1][lane]), integers[lane]);
    EXPECT_EQ(std::bit_cast<float>(s.registers[3][lane]), again[lane]);
  }
  EXPECT_EQ(std::bit_cast<float>(s.registers[2][3]), -0.400390625f);
}

// A register of 32 bits for each lane, whose new bit is what four of them have in common.
TEST(VectorUnit, DrawsRandomNumbers) {
  for (const VectorUnit* unit : {&portable_vector_unit(), runnable_avx2_vector_unit(), runnable_avx512_vector_unit()}) {
    if (unit == nullptr) continue;
    VectorState s = with(0);
    seed_random(s, 0x12345678u);
    s.flags.lanes[7] = 0;
    const VectorState before = s;
    ASSERT_EQ(unit->execute({.op = VectorOp::round, .mod = 1, .d = 1, .c = 0}, s), VectorFault::none);
    for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
      const std::uint32_t state = before.random[lane], odd = static_cast<std::uint32_t>(std::popcount(state & 0x80200003u)) % 2;
      EXPECT_EQ(s.random[lane], lane == 7 ? state : state >> 1 | (1 - odd) << 31) << unit->name;
    }
  }
}

TEST(VectorUnit, RefusesWhatIsNotThere) {
  VectorState s = with(0);
  EXPECT_EQ(best_vector_unit().execute({.op = VectorOp::mad, .d = 9}, s), VectorFault::read_only_register);
  EXPECT_EQ(best_vector_unit().execute({.op = VectorOp::pop_flags}, s), VectorFault::flag_stack);
  EXPECT_EQ(best_vector_unit().execute({.op = VectorOp::load_immediate, .mod = 3}, s), VectorFault::unknown_mode);
}

}  // namespace
}  // namespace buda::numerics
