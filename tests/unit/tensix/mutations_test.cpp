// SPDX-License-Identifier: Apache-2.0
// Seeded defects, of kernels and of the simulator, each of which the comparison with golden's bits has to find.
//
// Defects of kernels are instructions that are changed in the compiled program; defects of the simulator are made by an observer, which
// changes what an instruction has left in the coprocessor.
#include "kernel_fixture.hpp"

#include <buda/isa/opcodes.hpp>
#include <buda/kernels/programs/elf.hpp>
#include <tensix/debug/observer.hpp>
#include <tensix/fields.hpp>

#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <map>
#include <optional>

namespace buda::tensix::test {
namespace {

enum class Which : std::uint8_t { copy, sum, product, matmul, gelu };

// Every instruction `from` (fields that are not named are 0) becomes `to`.
struct KernelDefect {
  std::string_view what;
  Which kernel = Which::copy;
  std::size_t thread = 0;
  std::string_view from, to;
};

constexpr KernelDefect kKernelDefects[] = {
    {"SrcA moves by 4 rows", Which::copy, 1, "SETC16 value=2056, register=7", "SETC16 value=2052, register=7"},
    {"the destination does not move", Which::copy, 1, "SETC16 value=8, register=23", "SETC16 register=23"},
    {"one row block is moved twice", Which::copy, 1, "MOVA2D rows=2", "MOVA2D rows=2, dst=8"},
    {"SrcA is not given back", Which::copy, 1, "SETRWC which=15, flip=1", "SETRWC which=15"},
    {"a tile is not told", Which::copy, 1, "SEMPOST semaphores=2", "NOP"},
    {"the packers do not wait", Which::matmul, 2, "SEMWAIT condition=1, semaphores=2, blocked=511", "NOP"},
    {"a slot is not given back", Which::copy, 2, "SEMGET semaphores=2", "NOP"},
    {"faces end early", Which::copy, 2, "SETADCXX x1=255, units=4", "SETADCXX x1=239, units=4"},
    {"three packers", Which::copy, 2, "PACR last=1, packers=15", "PACR last=1, packers=7"},
    {"tiles end early", Which::copy, 0, "SETADCXX x1=1023, units=3", "SETADCXX x1=1007, units=3"},
    {"the wrong unpacker's counters", Which::copy, 0, "SETADCXX x1=1023, units=3", "SETADCXX x1=1023, units=2"},
    {"the bank is not handed over", Which::copy, 0, "UNPACR last=1, flip=1, multi_context=1", "UNPACR last=1, multi_context=1"},
    {"a difference instead of a sum", Which::sum, 1, "ELWADD", "ELWSUB"},
    {"a sum that is added up", Which::sum, 1, "ELWADD", "ELWADD accumulate=1, dst=8"},
    {"row 0 of SrcB for all", Which::sum, 1, "ELWADD", "ELWADD broadcast=2"},
    {"column 0 of SrcB for all", Which::sum, 1, "ELWADD", "ELWADD broadcast=1"},
    {"SrcB is not given back", Which::sum, 1, "SETRWC which=15, flip=3", "SETRWC which=15, flip=1"},
    {"SrcB does not move", Which::sum, 1, "SETC16 value=2056, register=7", "SETC16 value=8, register=7"},
    {"phase 1 is phase 0", Which::product, 1, "SETC16 value=1, register=6", "SETC16 register=6"},
    {"phase 2 is phase 3", Which::product, 1, "SETC16 value=2, register=6", "SETC16 value=3, register=6"},
    {"phases do not begin anew", Which::product, 1, "SETRWC which=15", "SETRWC which=3"},
    {"the slot is not cleared", Which::matmul, 1, "ZEROACC mode=1", "NOP"},
    {"a product is left out", Which::matmul, 1, "MVMUL dst=40, addr_mod=2", "MVMUL dst=32, addr_mod=2"},
    {"SrcA's faces in the wrong order", Which::matmul, 1, "SETC16 value=6160, register=11", "SETC16 value=6144, register=11"},
    {"SrcB's rows in the wrong order", Which::matmul, 1, "SETC16 value=6144, register=9", "SETC16 value=2048, register=9"},
    {"15 products", Which::matmul, 1, "REPLAY length=16", "REPLAY length=15"},
    {"products from slot 1 on", Which::matmul, 1, "REPLAY length=16", "REPLAY start=1, length=16"},
    {"half of the tile is left as it is", Which::gelu, 1, "SFPSTORE addr_mod=3, format=2", "SFPSTORE addr_mod=2, format=2"},
};

// Done after each instruction of an opcode.
struct SimulatorDefect {
  std::string_view what;
  Which kernel = Which::copy;
  std::string_view opcode;
  std::function<void(Coprocessor&, std::size_t thread)> change;
};

template <class Change>
void change_dest(Coprocessor& c, Change change) {
  for (std::size_t i = 0; i < 64 * kColumns; ++i) {
    std::uint32_t& word = c.dest.row(false, 0)[i];
    if (word != 0) word = change(word);
  }
}

// The bank that was handed over last.
SourceBank& last_bank(SourceRegister& source) { return source.banks[source.unpack ^ 1]; }

const std::vector<SimulatorDefect>& simulator_defects() {
  static const std::vector<SimulatorDefect> all = {
      {"row counter of SrcA without carry", Which::copy, "MOVA2D", [](Coprocessor& c, std::size_t t) { c.rows[t].a %= 32; }},
      {"row counter of the destination without carry", Which::matmul, "MVMUL", [](Coprocessor& c, std::size_t t) { c.rows[t].b %= 32; }},
      {"SETRWC leaves SrcB's counter", Which::sum, "SETRWC", [](Coprocessor& c, std::size_t t) { c.rows[t].b = 8; }},
      {"phases shifted by one", Which::product, "SETRWC", [](Coprocessor& c, std::size_t t) { c.rows[t].phase = 1; }},
      {"sums rounded up instead of to even", Which::matmul, "MVMUL",
       [](Coprocessor& c, std::size_t) { change_dest(c, [](std::uint32_t w) { return w | 0x10000u; }); }},
      {"sums truncated", Which::matmul, "MVMUL",
       [](Coprocessor& c, std::size_t) { change_dest(c, [](std::uint32_t w) { return w & ~0x10000u; }); }},
      {"large sums saturate early", Which::matmul, "MVMUL",
       [](Coprocessor& c, std::size_t) {
         change_dest(c, [](std::uint32_t w) { return (w & 0x7f800000u) > 0x41000000u ? (w & 0x80000000u) | 0x41000000u : w; });
       }},
      {"small products are zeros", Which::product, "ELWMUL",
       [](Coprocessor& c, std::size_t) { change_dest(c, [](std::uint32_t w) { return (w & 0x7f800000u) < 0x3c000000u ? 0 : w; }); }},
      {"negative zeros and signs are lost", Which::sum, "ELWADD",
       [](Coprocessor& c, std::size_t) { change_dest(c, [](std::uint32_t w) { return w & 0x7fffffffu; }); }},
      {"exponents in SrcA one too large", Which::matmul, "UNPACR",
       [](Coprocessor& c, std::size_t) {
         SourceBank& bank = last_bank(c.src_a);
         for (std::uint32_t& w : bank.words)
           if (w != 0) w += 0x00800000u;
         bank.change();
       }},
      {"a column of SrcB is lost", Which::sum, "UNPACR",
       [](Coprocessor& c, std::size_t) {
         for (std::size_t r = 0; r < kSourceRows; ++r) last_bank(c.src_b).words[r * kColumns + 15] = 0;
         last_bank(c.src_b).change();
       }},
      {"faces of SrcA transposed", Which::matmul, "UNPACR",
       [](Coprocessor& c, std::size_t) {
         SourceBank& bank = last_bank(c.src_a);
         for (std::size_t r = 0; r < kColumns; ++r)
           for (std::size_t k = r + 1; k < kColumns; ++k) std::swap(bank.words[r * kColumns + k], bank.words[k * kColumns + r]);
         bank.change();
       }},
      {"ReLU is left out", Which::sum, "SEMWAIT", [](Coprocessor& c, std::size_t) { c.config.word(0, 2) &= ~0x3cu; }},
      {"lanes of the vector unit exchanged", Which::gelu, "SFPLOAD",
       [](Coprocessor& c, std::size_t) { std::swap(c.vector.registers[0][0], c.vector.registers[0][1]); }},
      {"multiply-adds lose their last bits", Which::gelu, "SFPMAD",
       [](Coprocessor& c, std::size_t) {
         for (auto& reg : c.vector.registers)
           for (std::int32_t& lane : reg) lane &= ~0xffff;
       }},
      {"counters of L1 in the wrong order", Which::copy, "SETADCZW",
       [](Coprocessor& c, std::size_t t) { c.addresses[t][2].channel[0].w ^= 1; }},
      {"the header is not skipped", Which::copy, "SETADCZW", [](Coprocessor& c, std::size_t) { c.config.word(0, 80) = 0xffff; }},
  };
  return all;
}

class DefectObserver final : public Observer {
 public:
  DefectObserver(const SimulatorDefect& defect, Core& core) : defect_(defect), opcode_(defect.opcode), core_(core) {}
  std::optional<std::string> before(std::size_t, std::uint32_t) override { return std::nullopt; }
  std::optional<std::string> after(std::size_t, const ProcessorStep&) override { return std::nullopt; }
  std::optional<std::string> after(std::size_t thread, const CoprocessorStep& step) override {
    if (opcode_.is(step.word)) defect_.change(core_.coprocessor(), thread);
    return std::nullopt;
  }

 private:
  const SimulatorDefect& defect_;
  NamedOpcode opcode_;
  Core& core_;
};

class Mutations : public Kernels {
 protected:
  struct Subject {
    std::string text;
    std::vector<golden::test::Given> inputs;
    std::optional<Tensor> expected;
    kernels::KernelSet set;
  };

  void SetUp() override {
    Kernels::SetUp();
    if (IsSkipped()) return;
    const std::string relu = "relu_en: true, relu_threshold: 0.25, relu_mode: max";
    OpText copy = op("nop", {"a"}, "Float16_b", "Float16_b", "Float16_b"),
           sum = op("add", {"a", "b"}, "Float16_b", "Float16_b", "Float16_b", relu),
           product = op("multiply", {"a", "b"}, "Float16_b", "Float16_b", "Float16_b"),
           matmul = op("matmul", {"a", "b"}, "Float16_b", "Float16_b", "Float16_b", "m_k: 2, u_kt: 1"),
           gelu = op("gelu", {"a"}, "Float16_b", "Float16_b", "Float16_b");
    for (OpText* o : {&copy, &sum, &product, &gelu}) o->rt = 3;
    matmul.rt = 2;
    matmul.fidelity = "HiFi2";
    const Shape three{1, 1, 96, 32};
    add(Which::copy, {copy, {three}});
    add(Which::sum, {sum, {three, three}});
    add(Which::product, {product, {three, three}});
    add(Which::matmul, {matmul, {Shape{1, 1, 64, 64}, Shape{1, 1, 64, 32}}});
    add(Which::gelu, {gelu, {three}});
  }

  void add(Which which, const Case& c) {
    Subject s{text_of(c), {}, std::nullopt, {}};
    for (std::size_t i = 0; i < c.op.inputs.size(); ++i) s.inputs.push_back({c.op.inputs[i], wild_tensor(c.shapes[i], 21 + i)});
    functional::DeviceOptions bits;
    bits.mode = arith::Mode::bits;
    auto expected = golden::test::run_netlist(s.text, s.inputs, bits);
    auto set = build(s.text, compilers().back().name);
    ASSERT_TRUE(expected.ok() && set.ok());
    s.expected = std::move(*expected);
    s.set = std::move(*set);
    subjects_.emplace(which, std::move(s));
  }

  // Whether a run ends with something else than golden's bits.
  bool is_found(const Subject& subject, const kernels::KernelSet& set, const SimulatorDefect* defect) {
    functional::DeviceOptions options;
    options.mode = arith::Mode::bits;
    options.run_op = [&](const arith::OpCall& call) {
      return kernels::run_op(set, l1(), call, [&](const kernels::CoreWork& work, GridCoord) {
        SimulatedCore core(static_cast<std::size_t>(l1().size));
        std::optional<DefectObserver> observer;
        if (defect != nullptr) core.core().observer = &observer.emplace(*defect, core.core());
        return kernels::run_on(work, core);
      });
    };
    const auto made = golden::test::run_netlist(subject.text, subject.inputs, options, 1);
    return !made.ok() || !(*made == *subject.expected);
  }

  std::map<Which, Subject> subjects_;
};

// The number of instructions that were changed.
int change_words(io::Bytes& elf, std::string_view from, std::string_view to) {
  const auto old_word = std::get<std::uint32_t>(isa::assemble(from)), new_word = std::get<std::uint32_t>(isa::assemble(to));
  std::string bytes(elf.view());
  const auto program = kernels::parse_executable(bytes, "test");
  const auto begin = static_cast<std::size_t>(program->code.data() - bytes.data());
  int changed = 0;
  for (std::size_t at = begin; at + 4 <= begin + program->code.size(); at += 4) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + at, 4);
    if (word != isa::in_program(old_word)) continue;
    word = isa::in_program(new_word);
    std::memcpy(bytes.data() + at, &word, 4);
    ++changed;
  }
  elf = io::Bytes(std::move(bytes));
  return changed;
}

TEST_F(Mutations, EachDefectIsFoundAndNothingElse) {
  const SimulatorDefect none{"none", Which::copy, "MVMUL", [](Coprocessor&, std::size_t) {}};
  for (const auto& [which, subject] : subjects_) {
    EXPECT_FALSE(is_found(subject, subject.set, nullptr)) << subject.text;
    EXPECT_FALSE(is_found(subject, subject.set, &none)) << subject.text;
  }
  EXPECT_GE(std::size(kKernelDefects) + simulator_defects().size(), 40u);
  for (const KernelDefect& d : kKernelDefects) {
    const Subject& subject = subjects_.at(d.kernel);
    kernels::KernelSet set = subject.set;
    ASSERT_GT(change_words(set.kernels[0].executables[d.thread], d.from, d.to), 0) << d.what;
    EXPECT_TRUE(is_found(subject, set, nullptr)) << d.what;
  }
  for (const SimulatorDefect& d : simulator_defects()) {
    const Subject& subject = subjects_.at(d.kernel);
    EXPECT_TRUE(is_found(subject, subject.set, &d)) << d.what;
  }
}

}  // namespace
}  // namespace buda::tensix::test
