// SPDX-License-Identifier: Apache-2.0
// Damaged ONNX files: every answer is a graph or a diagnostic. Run under sanitizers this is where crashes would show.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

#include <buda/base/rng.hpp>

namespace buda::test {
namespace {

class CorruptOnnx : public ImportTest {
 protected:
  // Imports, whatever comes of it; a refusal must say something and place it.
  bool tried(const std::string& bytes) {
    auto graph = import(bytes);
    if (graph) return true;
    EXPECT_FALSE(graph.failure().diagnostics().empty());
    for (const auto& d : graph.failure().diagnostics()) {
      EXPECT_FALSE(d.message.empty());
      EXPECT_FALSE(d.loc.file.empty()) << d.message;
      EXPECT_NE(d.fault, Fault::bug) << d.message;
    }
    return false;
  }
};

// A model with something of everything, so that a changed byte finds something to break.
std::string rich_model() {
  OnnxModel m(11);
  m.input("x", {2, 6}).weight("w", {4, 6}, std::vector<float>(24, 0.5f)).weight("b", {4}, {1, 2, 3, 4}).whole("shape", {0, -1, 2});
  m.scalar("six", 6).whole("starts", {0}).whole("ends", {1}).whole("axes", {1});
  m.node("Gemm", {"x", "w", "b"}, {"h"}).integer("transB", 1).real("alpha", 2).named("fc");
  m.node("Clip", {"h", "", "six"}, {"c"});
  m.node("Reshape", {"c", "shape"}, {"r"});
  m.node("Softmax", {"r"}, {"s"}).integer("axis", 1);
  m.node("Transpose", {"s"}, {"t"}).integers("perm", {0, 2, 1});
  m.node("Slice", {"t", "starts", "ends", "axes"}, {"u"});
  m.node("ReduceMean", {"u"}, {"v"}).integers("axes", {2});
  m.node("Squeeze", {"v"}, {"y"}).integers("axes", {1});
  m.output("y", {2, 1});
  return m.bytes();
}

// Old enough to go through libonnx's shape inference and converter.
std::string old_model() {
  OnnxModel m(7);
  m.input("x", {2, 6}).whole("shape", {2, 2, 3});
  m.node("Reshape", {"x", "shape"}, {"r"});
  m.node("Softmax", {"r"}, {"s"}).integer("axis", 1);
  m.node("Clip", {"s"}, {"c"}).real("min", 0).real("max", 6);
  m.node("Pad", {"c"}, {"p"}).integers("pads", {0, 0, 0, 0, 0, 1});
  m.node("Slice", {"p"}, {"y"}).integers("starts", {0}).integers("ends", {1}).integers("axes", {1});
  m.output("y", {2, 1, 4});
  return m.bytes();
}

TEST_F(CorruptOnnx, TheModelsAreReadWhole) {
  imported(rich_model());
  imported(old_model());
}

TEST_F(CorruptOnnx, CutOffAnywhere) {
  std::string whole = rich_model();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    fs_ = io::MemoryFileSystem();
    EXPECT_FALSE(tried(whole.substr(0, size))) << size;
  }
}

TEST_F(CorruptOnnx, EveryByteChanged) {
  std::string whole = rich_model();
  Rng rng(7);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1u << rng.below(8)));
    tried(damaged);
    damaged[at] = at % 2 == 0 ? static_cast<char>(0xff) : '\0';
    tried(damaged);
  }
}

TEST_F(CorruptOnnx, ChangedBytesOfAModelThatIsConverted) {
  std::string whole = old_model();
  Rng rng(5);
  for (std::size_t at = 0; at < whole.size(); at += 4) {
    std::string damaged = whole;
    damaged[at + rng.below(std::min<std::size_t>(4, whole.size() - at))] = static_cast<char>(rng.below(256));
    tried(damaged);
  }
}

TEST_F(CorruptOnnx, SeveralBytesChanged) {
  std::string whole = rich_model();
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 6; ++i) damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    tried(damaged);
  }
}

TEST_F(CorruptOnnx, RandomBytes) {
  Rng rng(3);
  for (std::size_t size : {1u, 10u, 100u, 5000u, 100000u}) {
    std::string noise(size, '\0');
    for (char& c : noise) c = static_cast<char>(rng.below(256));
    EXPECT_FALSE(tried(noise));
    EXPECT_FALSE(tried("\x08\x07" + noise)) << "behind a plausible start";
  }
}

TEST_F(CorruptOnnx, NestedDeeperThanAnyModel) {
  // Types within types within types: an input that is a sequence of sequences, 5000 deep.
  std::string type;
  auto wrapped = [](char tag, const std::string& inner) {
    std::string length;
    for (std::size_t n = inner.size();; n >>= 7) {
      length += static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0));
      if (n < 0x80) break;
    }
    return std::string(1, tag) + length + inner;
  };
  for (int i = 0; i < 5000; ++i) type = wrapped(4 << 3 | 2, wrapped(1 << 3 | 2, type));
  std::string input = wrapped(11 << 3 | 2, "\x0a\x01x" + wrapped(2 << 3 | 2, type));
  EXPECT_FALSE(tried("\x08\x07" + wrapped(7 << 3 | 2, input) + wrapped(8 << 3 | 2, "\x10\x0d")));
}

}  // namespace
}  // namespace buda::test
