// SPDX-License-Identifier: Apache-2.0
// How long instructions take: small programs, each with the formula that the hardware's documents give for it.
#include <buda/isa/opcodes.hpp>
#include <tensix/core.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace buda::tensix::test {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::array<std::uint32_t, kThreads> kPrograms = {0x1000, 0x4000, 0x8000};
constexpr std::uint32_t kNear = 2;  // cycles

// Instructions of a processor: RV32IM's formats.
namespace rv {
enum Register : std::uint32_t { zero, a0 = 10, a1, a2, a3, a4, a5, a6, a7 };
std::uint32_t itype(std::uint32_t opcode, std::uint32_t function, Register rd, Register rs, std::int32_t value) {
  return static_cast<std::uint32_t>(value) << 20 | rs << 15 | function << 12 | rd << 7 | opcode;
}
std::uint32_t rtype(std::uint32_t function7, std::uint32_t function, Register rd, Register a, Register b) {
  return function7 << 25 | b << 20 | a << 15 | function << 12 | rd << 7 | 0x33;
}
std::uint32_t addi(Register rd, Register rs, std::int32_t value) { return itype(0x13, 0, rd, rs, value); }
std::uint32_t lw(Register rd, Register rs, std::int32_t offset) { return itype(0x03, 2, rd, rs, offset); }
std::uint32_t sw(Register value, Register rs) { return value << 20 | rs << 15 | 2u << 12 | 0x23; }
std::uint32_t lui(Register rd, std::uint32_t upper) { return (upper & 0xfffff000u) | rd << 7 | 0x37; }
std::uint32_t mul(Register rd, Register a, Register b) { return rtype(1, 0, rd, a, b); }
std::uint32_t divu(Register rd, Register a, Register b) { return rtype(1, 5, rd, a, b); }
// bne a, b to `back` instructions before.
std::uint32_t bne_back(Register a, Register b, std::uint32_t back) {
  const std::uint32_t offset = 0u - 4 * back;
  return (offset >> 12 & 1) << 31 | (offset >> 5 & 63) << 25 | b << 20 | a << 15 | 1u << 12 | (offset >> 1 & 15) << 8 |
         (offset >> 11 & 1) << 7 | 0x63;
}
// beq zero, zero over nothing: taken, and predicted not to be.
std::uint32_t beq_next() { return 2u << 8 | 0x63; }
}  // namespace rv

std::uint32_t push_of(std::string_view text) { return isa::in_program(std::get<std::uint32_t>(isa::assemble(text))); }

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Words times(std::size_t count, const Words& words) {
  Words out;
  for (std::size_t i = 0; i < count; ++i) out.insert(out.end(), words.begin(), words.end());
  return out;
}
Words pushes(std::initializer_list<std::string_view> texts) {
  Words out;
  for (std::string_view text : texts) out.push_back(push_of(text));
  return out;
}
// `count` instructions that differ in the block of the destination, in turn.
Words over_blocks(std::string_view name, std::size_t count, std::size_t blocks) {
  Words out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(push_of(std::string(name) + " dst=" + std::to_string(8 * (i % blocks))));
  return out;
}

struct Programs {
  Words unpack, math, pack;
};

// Settings as kernels make them, for tiles of 32x32 in format `stored`.
struct Settings {
  std::uint32_t stored = kFloat16B, throttle = 2;
  bool accumulates = false;
};

void configure(Config& config, Settings s) {
  for (std::size_t base : {52u, 92u}) config.word(0, base) = s.stored | 1u << 4 | 256u << 16;
  for (std::size_t base : {53u, 93u}) config.word(0, base) = 1 | 4u << 16;
  for (std::size_t base : {60u, 100u}) config.word(0, base) = s.stored | s.throttle << 4;
  for (std::size_t base : {61u, 101u}) config.word(0, base) = 3;
  config.word(0, 64) = config.word(0, 104) = 0x1000;  // in units of 16 bytes
  config.word(0, 72) = 64 | 64u << 16;
  config.word(0, 74) = 256 | 256u << 16;
  const std::uint32_t intermediate = s.stored;
  config.word(0, 1) = s.stored << 17 | s.stored << 21 | intermediate << 25;
  config.word(0, 20) = 0xffff;
  for (std::uint32_t i = 0; i < 4; ++i) {
    config.word(0, 152 + i) = 16 * i;
    const std::uint16_t word = setting::kPacker[i];
    config.word(0, word) = s.stored == kBfp8B ? (4 - i + 16 * i) << 16 : 0;
    config.word(0, word + 1u) = 0x1000 + (s.stored == kBfp8B ? i : 32 * i);
    config.word(0, word + 2u) = s.stored << 4 | intermediate << 8 | 1;
    config.word(0, word + 3u) = s.accumulates ? 1u << 21 : 0;
  }
}

std::array<Core::Clock, kThreads> run(const Programs& programs, Settings settings = {}) {
  Core core(256 * 1024);
  const Words* all[] = {&programs.unpack, &programs.math, &programs.pack};
  for (std::size_t t = 0; t < kThreads; ++t) {
    std::uint32_t at = kPrograms[t];
    for (std::uint32_t word : *all[t]) {
      core.set_word(at, word);
      at += 4;
    }
    core.set_word(at, 0x0000006f);  // j .
  }
  core.checks.on = false;  // programs that only take time
  core.reset(kPrograms);
  configure(core.coprocessor().config, settings);
  for (int i = 0; i < 10000; ++i) {
    const Core::Progress progress = core.advance();
    EXPECT_FALSE(progress.fault) << core.fault();
    if (progress.fault) break;
  }
  return {core.clock(0), core.clock(1), core.clock(2)};
}

// Of what the coprocessor does, and of a processor.
Cycle done(const Programs& programs, Settings settings = {}) {
  const auto clocks = run(programs, settings);
  return std::max({clocks[0].done, clocks[1].done, clocks[2].done});
}
Cycle math_done(const Words& words) { return run({pushes({"UNPACR_NOP kind=7", "UNPACR_NOP kind=7, unpacker=1"}), words, {}})[1].done; }
Cycle processor(const Words& words) { return run({{}, words, {}})[1].processor; }

// What `more` adds after `before`.
Cycle added(const std::function<Cycle(const Words&)>& measure, const Words& before, const Words& more) {
  return measure(before + more) - measure(before);
}

void expect_near(std::string_view what, Cycle measured, std::uint64_t formula) {
  EXPECT_LE(measured, formula + kNear) << what;
  EXPECT_GE(measured + kNear, formula) << what;
}

const Words kSetUnpackers = pushes({"SETADCXX units=3, x1=1023"});
const Words kSetPackers = pushes({"SETADCXX units=4, x1=255"});
const Words kUnpackA = pushes({"UNPACR multi_context=1, flip=1, last=1"}),
            kUnpackB = pushes({"UNPACR unpacker=1, multi_context=1, flip=1, last=1"});
const Words kPack = pushes({"PACR packers=15, last=1"});

TEST(Timing, MatrixUnit) {
  const Words before = over_blocks("MVMUL", 10, 5);
  expect_near("products of five blocks in turn: one per cycle", added(math_done, before, over_blocks("MVMUL", 40, 5)), 40);
  expect_near("products of one block: four cycles between", added(math_done, before, over_blocks("MVMUL", 20, 1)), 5 * 19 + 1);
  expect_near("products of two blocks: two per five cycles", added(math_done, before, over_blocks("MVMUL", 20, 2)), 5 * 9 + 2);
  for (std::size_t phases = 1; phases <= 4; ++phases)
    expect_near("a tile's 16 products for each fidelity phase", added(math_done, before, times(phases, over_blocks("MVMUL", 16, 8))),
                16 * phases);
  expect_near("sums that add nothing: one per cycle", added(math_done, before, over_blocks("ELWADD", 30, 1)), 30);
  expect_near("sums that add to one block", added(math_done, before, times(20, pushes({"ELWADD accumulate=1"}))), 5 * 19 + 1);
  expect_near("elementwise products of eight blocks", added(math_done, before, over_blocks("ELWMUL", 32, 8)), 32);
  const Words moves = pushes({"MOVA2D rows=2, dst=64", "MVMUL dst=0"});
  expect_near("a product after a moved row: four cycles later", added(math_done, before, times(10, moves)), 10 * (4 + 1));
  expect_near("moves: one per cycle", added(math_done, before, times(20, pushes({"MOVA2D rows=2, dst=64"}))), 20);
  expect_near("counters and clearing: one per cycle",
              added(math_done, pushes({"SETRWC"}), times(10, pushes({"SETRWC", "INCRWC", "ZEROACC mode=1"}))), 30);
}

TEST(Timing, GateAndSemaphores) {
  const Words waits = pushes({"MVMUL", "STALLWAIT blocked=2, conditions=128", "SEMINIT semaphores=1, most=2"});
  // Products are done after five cycles; the gate opens one cycle after that, and what it held takes one.
  expect_near("STALLWAIT for the matrix unit", added(math_done, waits, times(10, waits)), 10 * (5 + 1 + 1));
  expect_near("STALLWAIT for what is done holds for one cycle",
              added(math_done, pushes({"SETC16"}), times(10, pushes({"STALLWAIT blocked=511, conditions=4", "SETC16"}))), 10 * 3);
  // The pack thread waits for a post after 100 cycles of the scalar unit: seen a cycle later, and the gate opens one after that.
  const Words post = times(100, pushes({"SETDMAREG"})) + pushes({"SEMPOST semaphores=1"});
  const Words wait = pushes({"SEMINIT semaphores=1, most=5", "SEMWAIT semaphores=1, condition=1, blocked=511", "SETC16"});
  const auto clocks = run({{}, times(10, pushes({"SETC16"})) + post, wait});
  expect_near("SEMPOST to another thread: one cycle, and one of the gate", clocks[2].coprocessor - clocks[1].coprocessor, 2);
  const Words hold = pushes({"ATGETM mutex=2"}) + times(50, pushes({"SETDMAREG"})) + pushes({"ATRELM mutex=2"});
  const auto held = run({{}, hold, times(8, pushes({"SETC16"})) + pushes({"ATGETM mutex=2"})});
  expect_near("a mutex is had one cycle after the other thread gave it", held[2].coprocessor - held[1].coprocessor, 1);
}

TEST(Timing, Unpackers) {
  for (std::uint32_t throttle = 0; throttle < 3; ++throttle) {
    const Settings s{.throttle = throttle};
    const Cycle base = done({kSetUnpackers, {}, {}}, s);
    expect_near("a tile of 2048 bytes at 16, 32 or 64 bytes per cycle", done({kSetUnpackers + kUnpackA, {}, {}}, s) - base,
                1 + 2 + 2048 / (16u << throttle));
  }
  const Cycle base = done({kSetUnpackers, {}, {}});
  expect_near("both unpackers at half the speed", done({kSetUnpackers + kUnpackB + kUnpackA, {}, {}}) - base, 1 + 2 + 2 * 2048 / 64);
  expect_near("a tile of Bfp8_b: 1024 bytes and 64 exponents", done({kSetUnpackers + kUnpackA, {}, {}}, {.stored = kBfp8B}) - base,
              1 + 2 + 1088 / 64);
  expect_near("two tiles for two banks, one after the other", done({kSetUnpackers + kUnpackA + kUnpackA, {}, {}}) - base,
              1 + 2 + 2 * 2048 / 64);
  // The third finds no bank before the first is given back, after 200 cycles.
  const Words late = times(200, pushes({"SETDMAREG"})) +
                     pushes({"UNPACR_NOP unpacker=1, kind=7", "STALLWAIT blocked=64, conditions=1024", "SETRWC flip=1"});
  const auto clocks = run({kSetUnpackers + times(3, kUnpackA), late, {}});
  expect_near("a tile that waits for its bank", clocks[0].done - clocks[1].coprocessor, 1 + 2 + 2048 / 64);
  // The matrix unit waits for the bank, and begins when the last byte is there.
  const auto product = run({kSetUnpackers + kUnpackB + kUnpackA, pushes({"MVMUL"}), {}});
  expect_near("a product waits for both tiles", product[1].coprocessor, product[0].done);
}

TEST(Timing, Packers) {
  const auto pack = [](std::size_t count, Settings s) { return done({{}, {}, kSetPackers + times(count, kPack)}, s); };
  expect_near("four faces of 512 bytes at 16 bytes per cycle each", pack(5, {}) - pack(1, {}), 4 * 32);
  expect_near("faces of Bfp8_b: 256 bytes and a word of exponents", pack(5, {.stored = kBfp8B}) - pack(1, {.stored = kBfp8B}), 4 * 17);
  expect_near("faces that are added up in L1: five cycles per word", pack(5, {.accumulates = true}) - pack(1, {.accumulates = true}),
              4 * 160);
  const auto one = run({{}, {}, kSetPackers + kPack + pushes({"SETC16"})});
  expect_near("the thread goes on when the work is accepted", one[2].done - one[2].coprocessor, 32 - 1);
  const auto waits = run({{}, {}, kSetPackers + kPack + pushes({"STALLWAIT blocked=2, conditions=120", "SEMPOST semaphores=1"})});
  expect_near("STALLWAIT for the packers", waits[2].coprocessor - one[2].coprocessor, 32);
}

TEST(Timing, ScalarVectorAndConfiguration) {
  const Words before = pushes({"SETC16"});
  expect_near("SETDMAREG: one cycle", added(math_done, before, times(40, pushes({"SETDMAREG"}))), 40);
  expect_near("ADDDMAREG within four registers: three cycles", added(math_done, before, times(20, pushes({"ADDDMAREG a=1, b=2"}))), 60);
  expect_near("ADDDMAREG across them: four cycles", added(math_done, before, times(20, pushes({"ADDDMAREG a=1, b=9"}))), 80);
  expect_near("STOREREG: three cycles", added(math_done, before, times(20, pushes({"STOREREG address=65536"}))), 60);
  const Words adds = times(20, pushes({"ADDDMAREG a=1, b=2"}));
  const auto both = run({{}, adds, adds});
  expect_near("two threads share the scalar unit", std::max(both[1].done, both[2].done), 5 + 2 * 60);
  expect_near("the vector unit: one per cycle", added(math_done, before, times(40, pushes({"SFPMAD vd=1"}))), 40 + 1);
  expect_near("SFPSWAP: two cycles", added(math_done, before, times(20, pushes({"SFPSWAP vd=1, vc=2"}))), 40);
  expect_near("SFPSWAP and SFPNOP: two cycles together", added(math_done, before, times(20, pushes({"SFPSWAP vd=1, vc=2", "SFPNOP"}))), 40);
  expect_near("RMWCIB: one cycle", added(math_done, before, times(20, pushes({"RMWCIB0 config=100"}))), 20);
  expect_near("RMWCIB not directly after WRCFG", added(math_done, before, times(20, pushes({"WRCFG config=100", "RMWCIB0 config=100"}))),
              60);
  expect_near("address counters: one per cycle", added(math_done, before, times(20, pushes({"SETADCXY", "SETADCZW"}))), 40);
}

TEST(Timing, FrontEnd) {
  const Words load = pushes({"REPLAY load=1, length=16"}) + over_blocks("MVMUL", 16, 8);
  expect_near("a replayed part: one per cycle",
              added(math_done, load + pushes({"REPLAY length=16"}), times(4, pushes({"REPLAY length=16"}))), 64);
  // Words of the loop at 0xffb80000: 4 rounds of 8, nothing before or after.
  Words loop = {rv::lui(rv::a0, 0xffb80000u)};
  const std::uint32_t nop = std::get<std::uint32_t>(isa::assemble("NOP")), product = std::get<std::uint32_t>(isa::assemble("SETC16"));
  const std::uint32_t values[] = {4, 8, nop, nop, nop, product, nop, product, product};
  for (std::uint32_t i = 0; i < 9; ++i) {
    loop.push_back(rv::lui(rv::a1, values[i] + ((values[i] & 0x800) != 0 ? 0x1000 : 0)));
    loop.push_back(rv::addi(rv::a1, rv::a1, static_cast<std::int32_t>(values[i] << 20) >> 20));
    loop.push_back(rv::sw(rv::a1, rv::a0));
    loop.push_back(rv::addi(rv::a0, rv::a0, 4));
  }
  expect_near("a macro operation: one per cycle", added(math_done, loop + pushes({"MOP template=1"}), times(5, pushes({"MOP template=1"}))),
              5 * 32);
  expect_near("one cycle is lost after it",
              added(math_done, loop + pushes({"MOP template=1"}), times(5, pushes({"SETC16", "MOP template=1"}))), 5 * (32 + 1 + 1));
  // 16 words fit in the queue, and 10 are on their way to the gate; the others are pushed when products, of five cycles each, begin.
  expect_near("a full queue keeps the processor", processor(times(60, pushes({"ADDDMAREG a=1, b=9"}))), 4 * (60 - 26));
  const Words idle = {rv::lui(rv::a0, 0xffe80000u), rv::lw(rv::a1, rv::a0, 4), rv::addi(rv::a2, rv::a1, 0)};
  expect_near("a processor waits until its thread is idle", processor(times(10, pushes({"ADDDMAREG a=1, b=9"})) + idle), 5 + 40 + 3);
}

TEST(Timing, Processors) {
  const Words before = {rv::lui(rv::a0, 0x3000), rv::addi(rv::a1, rv::zero, 1)};
  const auto more = [&](const Words& words) { return added(processor, before, words); };
  expect_near("one instruction per cycle", more(times(100, {rv::addi(rv::a2, rv::a2, 1)})), 100);
  expect_near("a multiplication: two cycles", more(times(50, {rv::mul(rv::a2, rv::a1, rv::a1)})), 100);
  expect_near("a division by one: two cycles", more(times(20, {rv::divu(rv::a2, rv::a0, rv::a1)})), 40);
  expect_near("the longest division", more({rv::lui(rv::a2, 0x80000000u), rv::divu(rv::a3, rv::a2, rv::a0)}), 1 + 33);
  const auto load_and_use = [&](std::uint32_t region, std::int32_t offset) {
    return more(Words{rv::lui(rv::a2, region)} + times(20, {rv::lw(rv::a3, rv::a2, offset), rv::addi(rv::a4, rv::a3, 0)})) - 1;
  };
  expect_near("own memory: used two cycles later", load_and_use(0xffb00000u, 16), 20 * (2 + 1));
  expect_near("semaphores: three", load_and_use(0xffe80000u, 0x20), 20 * (3 + 1));
  expect_near("configuration: four", load_and_use(0xffef0000u, 0x40), 20 * (4 + 1));
  expect_near("streams: seven", load_and_use(0xffb40000u, 16), 20 * (7 + 1));
  expect_near("L1: eight", load_and_use(0x3000, 0), 20 * (8 + 1));
  const Words loads = {rv::lw(rv::a2, rv::a0, 0), rv::lw(rv::a3, rv::a0, 4), rv::lw(rv::a4, rv::a0, 8), rv::lw(rv::a5, rv::a0, 12)};
  expect_near("four loads of L1 per seven cycles", more(times(10, loads)), 9 * 7 + 4);
  Words hidden = {rv::lw(rv::a3, rv::a0, 0)};
  for (int i = 0; i < 7; ++i) hidden.push_back(rv::addi(rv::a4, rv::zero, i));
  hidden.push_back(rv::addi(rv::a5, rv::a3, 0));
  expect_near("seven others hide a load of L1", more(hidden), 9);
  expect_near("stores to L1: five cycles", more(times(20, {rv::sw(rv::a1, rv::a0)})), 5 * 19 + 1);
  // 30 rounds of two instructions; the last branch is not taken.
  expect_near("a loop's branch is predicted, but for the last",
              more({rv::addi(rv::a2, rv::zero, 30), rv::addi(rv::a2, rv::a2, -1), rv::bne_back(rv::a2, rv::zero, 1)}), 1 + 60 + 2);
  expect_near("a branch that was predicted wrong: two more", more(times(20, {rv::beq_next()})), 20 * 3);
}

}  // namespace
}  // namespace buda::tensix::test
