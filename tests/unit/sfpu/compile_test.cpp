// SPDX-License-Identifier: Apache-2.0
// From text to instructions: the language, its errors, and the words that threads push.
#include <buda/numerics/vector_functions.hpp>
#include <buda/sfpu/functions.hpp>
#include <buda/sfpu/words.hpp>

#include <buda/base/rng.hpp>
#include <buda/isa/opcodes.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <string>

namespace buda::sfpu {
namespace {

using numerics::VectorInstruction;
using numerics::VectorOp;

Result<Program> compiled(const std::string& text, const Constants& constants = {}) {
  auto functions = parse(text, "f.sfpu");
  if (!functions) return std::move(functions).failure();
  Library library = sfpu::functions();
  auto added = add(library, std::move(*functions));
  if (!added) return std::move(added).failure();
  return compile(library, "f", constants);
}

// Of the text's function f.
float value(const std::string& text, float x, const Constants& constants = {}) {
  const auto program = compiled(text, constants);
  if (!program) {
    ADD_FAILURE() << program.failure().diagnostics().front().message;
    return 0;
  }
  std::uint32_t words[16];
  std::fill(std::begin(words), std::end(words), std::bit_cast<std::uint32_t>(x));
  numerics::VectorCall call;
  call.program = program->instructions.data();
  call.length = program->instructions.size();
  call.result = program->result;
  call.form = numerics::Dest::fp32;
  call.numbers = words;
  call.count = 16;
  numerics::best_vector_unit().apply(call);
  return std::bit_cast<float>(words[15]);
}

std::string error(const std::string& text) {
  const auto program = compiled(text);
  if (program) return "none";
  const Diagnostic& d = program.failure().diagnostics().front();
  return d.code + ":" + std::to_string(d.loc.line) + " " + d.message;
}

TEST(Text, ComputesWithOperatorsAndConditions) {
  EXPECT_EQ(value("function f(x) { return x * 2.0 + 1.0 - -x }", 3), 10.0f);
  const std::string text = "function f(x) { y = 1.0\n if x < 0 { y = -x } else { if x - 4.0 >= 0 && x != 0 { y = x * x } }\n return y }";
  EXPECT_EQ(value(text, -3), 3.0f);
  EXPECT_EQ(value(text, 3), 1.0f);
  EXPECT_EQ(value(text, 5), 25.0f);
}

TEST(Text, KeepsAVariableThatChangesInSomeLanesOnly) {
  EXPECT_EQ(value("function f(x) { y = x\n z = y\n if x < 0 { z = 5.0 }\n return y + z }", -1), 4.0f);
  EXPECT_EQ(value("function g(a) { b = a\n if a < 0 { b = b * 2.0 }\n return b }\nfunction f(x) { return g(x) + x }", -1), -3.0f);
}

TEST(Text, TakesConstantsFromItsCaller) {
  EXPECT_EQ(value("function f(x, constant c) { return x * c }", 3, {{"c", std::bit_cast<std::uint32_t>(0.5f)}}), 1.5f);
  EXPECT_EQ(value("function g(x, constant c) { return x + c }\nfunction f(x) { return g(x, 2.5) }", 3), 5.5f);
}

TEST(Text, IsRefusedAtItsPlace) {
  EXPECT_EQ(error("function f(x) {\n y = \n}"), "SF001:3 a name is expected, not '}'");
  EXPECT_EQ(error("function f(x) { return x * 2 }"), "SF002:1 an operand of * is an integer; floats have a point, as in 2.0");
  EXPECT_EQ(error("function f(x) {\n return sqtr(x) }"), "SF002:2 there is no function 'sqtr'; did you mean 'sqrt'?");
  EXPECT_EQ(error("function f(value) {\n return valeu }"), "SF002:2 'valeu' is not known here; did you mean 'value'?");
  EXPECT_EQ(error("function f(x) { x = 1.0\n return x }"), "SF002:1 'x' is a parameter, and cannot be changed");
  EXPECT_EQ(error("function f(x) { return f(x) }"), "SF002:1 calls of 'f' are nested more than 16 deep");
  EXPECT_EQ(error("function f(x, constant c) { return x }"), "SF002:1 'f' needs a value for its constant 'c'");
  EXPECT_EQ(error("function f(x) { y = x }"), "SF002:1 function 'f' does not end with 'return'");
  EXPECT_EQ(error("function exp(x) { return x }\nfunction f(x) { return x }"), "SF002:1 there is a function 'exp' already");
  std::string wide = "function f(x) {";
  for (char c = 'a'; c < 'j'; ++c) wide += std::string(" v") + c + " = x * 1.5\n";
  wide += " return va + vb + vc + vd + ve + vf + vg + vh + vi }";
  EXPECT_TRUE(error(wide).starts_with("SF003:8 more than eight values")) << error(wide);
}

TEST(Text, OfAnyBytesIsReadOrRefused) {
  Rng rng(21);
  const std::string seed =
      "function f(x, constant c) { y = x * 1.5 + exp(x)\n if y < 0 && x != 0 { y = 0x7f } else { y = -x }\n return larger(y, c) }";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = seed;
    for (std::uint64_t k = rng.below(6) + 1; k > 0; --k) {
      const std::size_t at = rng.below(text.size());
      if (rng.below(2) == 0) {
        text[at] = static_cast<char>(rng.below(128));
      } else {
        text.insert(at, seed.substr(rng.below(seed.size()), rng.below(12)));
      }
    }
    (void)compiled(text, {{"c", 1u}}).ok();
  }
  (void)compiled(std::string(100'000, '(')).ok();
  (void)compiled("function f(x) { return " + std::string(100'000, '-') + "x }").ok();
}

TEST(Words, AreThoseOfTheTableAndComeBack) {
  EXPECT_EQ(isa::disassemble(word_of({.op = VectorOp::mad, .d = 1, .c = 9, .b = 10, .a = 2})), "SFPMAD vd=1, vc=9, vb=10, va=2");
  for (const auto& [name, function] : functions()) {
    const Program* program = program_of({name, {{"slope", 1u}, {"by", 2u}, {"threshold", 3u}}});
    if (program == nullptr) continue;
    for (const VectorInstruction& i : program->instructions) EXPECT_EQ(instruction_of(word_of(i)), i) << name;
  }
}

TEST(Words, LeaveTimeForMultiplyAdds) {
  const auto program = compiled("function f(x) { return x * x * x }");
  ASSERT_TRUE(program.ok());
  const std::vector<std::uint32_t> words = words_of(*program);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[1], word_of({}));
  EXPECT_EQ(words[3], word_of({}));
}

}  // namespace
}  // namespace buda::sfpu
