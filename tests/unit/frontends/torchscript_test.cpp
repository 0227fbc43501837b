// SPDX-License-Identifier: Apache-2.0
// TorchScript archives, built here, against formulas written here.
#include "import_fixture.hpp"
#include "torchscript_archive.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <gmock/gmock.h>

#include <cmath>

namespace buda::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Shapes = std::vector<std::string>;

class TorchScript : public ImportTest {
 protected:
  Result<graph::Graph> import_archive(const std::string& bytes, const Shapes& shapes) {
    fs_.put("dir/m.pt", bytes);
    importer::Options options{
        .model = "dir/m.pt", .output = "out/m.graph.json", .frontend = {}, .name = {}, .dims = {}, .input_shapes = shapes};
    BUDA_TRY(ImportTest::run(options));
    return graph::read_graph(fs_, options.output);
  }

  graph::Graph graph_of(const TorchArchive& m, const Shapes& shapes) {
    auto graph = import_archive(m.bytes(), shapes);
    if (graph) return std::move(graph).value();
    ADD_FAILURE() << text_of(graph.failure());
    return graph::Graph();
  }

  NamedTensors run(const TorchArchive& m, const Shapes& shapes, const std::vector<Tensor>& inputs) {
    graph::Graph graph = graph_of(m, shapes);
    NamedTensors named;
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i)
      named.emplace(graph.node(graph.inputs()[i]).name(), inputs[i]);
    auto outputs = ops::evaluate_graph(graph, named);
    if (outputs) return std::move(outputs).value();
    ADD_FAILURE() << text_of(outputs.failure());
    return {};
  }

  std::vector<float> one(const TorchArchive& m, const Shapes& shapes, const std::vector<Tensor>& inputs) {
    auto outputs = run(m, shapes, inputs);
    return outputs.size() == 1 ? outputs.begin()->second.to_f32() : std::vector<float>{};
  }

  std::string refused(const std::string& bytes, const Shapes& shapes = {"x=2,3"}) {
    auto graph = import_archive(bytes, shapes);
    EXPECT_EQ(fs_.find("out/m.graph.json"), nullptr) << "nothing may be written";
    return graph ? "imported" : text_of(graph.failure());
  }
};

TorchArchive body(const std::string& lines, const std::string& parameters = "x: Tensor") {
  TorchArchive m;
  m.forward(parameters, lines);
  return m;
}

// A module within a module: weights keep their names, and nodes tell where they come from.
TEST_F(TorchScript, ModulesAreInlined) {
  const Tensor w = pattern({2, 3}), b({2}, std::vector<float>{0.5f, -1});
  TorchArchive m;
  m.field("fc", TorchArchive::object("__torch__.torch.nn.Linear", {{"weight", m.tensor(w)}, {"bias", m.tensor(b)}}));
  m.code("__torch__.torch.nn",
         "class Linear(Module):\n  __parameters__ = [\"weight\", \"bias\", ]\n  weight : Tensor\n  bias : Tensor\n"
         "  def forward(self: __torch__.torch.nn.Linear,\n    x: Tensor) -> Tensor:\n    bias = self.bias\n    return torch.linear(x, "
         "self.weight, bias)\n");
  m.forward("x: Tensor", "    fc = self.fc\n    _0 = (fc).forward(x, )\n    return torch.relu(_0)\n");
  const Tensor x = pattern({4, 3}, 0.2f);
  std::vector<float> expected;
  auto xv = x.to_f32(), wv = w.to_f32(), bv = b.to_f32();
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      float sum = bv[j];
      for (std::size_t k = 0; k < 3; ++k) sum += xv[i * 3 + k] * wv[j * 3 + k];
      expected.push_back(std::max(sum, 0.0f));
    }
  expect_near(one(m, {"x=4,3"}, {x}), expected);
  graph::Graph graph = graph_of(m, {"x=4,3"});
  ASSERT_TRUE(graph.find("fc.weight").valid() && graph.find("fc.linear").valid());
  EXPECT_EQ(graph.node(graph.find("fc.weight")).op(), "parameter");
  EXPECT_EQ(graph.node(graph.find("fc.linear")).origins[0].node, "fc torch.linear (code/__torch__/torch/nn.py:8)");
}

// A view of a storage: a transposed part of it.
TEST_F(TorchScript, TensorsMayBeViewsOfStorages) {
  const Tensor storage({6}, std::vector<float>{0, 1, 2, 3, 4, 5});
  TorchArchive m;
  m.field("w", m.tensor(storage, {2, 2}, {1, 2}, 1));
  m.forward("x: Tensor", "    return torch.add(x, self.w)\n");
  EXPECT_EQ(one(m, {"x=2,2"}, {Tensor({2, 2}, std::vector<float>{0, 0, 0, 0})}), (std::vector<float>{1, 3, 2, 4}));
}

TEST_F(TorchScript, ControlFlowThatIsKnownDisappears) {
  auto m = body(
      "    n = torch.size(x, 1)\n"
      "    if torch.eq(n, 3):\n"
      "      y = torch.mul(x, 2)\n"
      "    else:\n"
      "      ops.prim.RaiseException(\"no\")\n"
      "      y = x\n"
      "    parts = annotate(List[Tensor], [])\n"
      "    for i in range(n):\n"
      "      _0 = torch.append(parts, torch.select(y, 1, i))\n"
      "    i0 = 0\n"
      "    z = parts[0]\n"
      "    _1 = True\n"
      "    while _1:\n"
      "      i0 = torch.add(i0, 1)\n"
      "      z = torch.add(z, parts[i0], alpha=i0)\n"
      "      _1 = torch.lt(i0, torch.sub(torch.len(parts), 1))\n"
      "    a, b, = (z, torch.__isnot__(x, None))\n"
      "    return a if b else x\n");
  const Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one(m, {"x=2,3"}, {x}), (std::vector<float>{2 * (1 + 2 + 6), 2 * (4 + 5 + 12)}));
}

// What changes a tensor in place changes all that look at its elements.
TEST_F(TorchScript, ChangesInPlaceGoThroughViews) {
  auto m = body(
      "    y = torch.clone(x)\n"
      "    row = torch.select(y, 0, 1)\n"
      "    flat = torch.view(y, [-1])\n"
      "    _0 = torch.add_(row, 10.)\n"
      "    part = torch.slice(torch.transpose(y, 0, 1), 0, 0, 2)\n"
      "    _1 = torch.mul_(part, 2.)\n"
      "    return torch.stack([flat, torch.flatten(x)])\n");
  const Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one(m, {"x=2,3"}, {x}), (std::vector<float>{2, 4, 3, 28, 30, 16, 1, 2, 3, 4, 5, 6}));
}

TEST_F(TorchScript, ElementTypesAreThoseOfPyTorch) {
  auto m = body(
      "    half = torch.div(n, 2)\n"            // real
      "    whole = torch.floor_divide(n, 2)\n"  // integer, downwards
      "    y = torch.mul(half, torch.to(torch.gt(n, 0), 6))\n"
      "    return torch.add(y, whole)\n",
      "n: Tensor");
  EXPECT_EQ(one(m, {"n=4:I64"}, {Tensor({4}, std::vector<std::int64_t>{-3, 1, 4, 5})}), (std::vector<float>{-2, 0.5f, 4, 4.5f}));
}

TEST_F(TorchScript, OutputsOfTuplesAndDictionariesHaveNames) {
  auto outputs =
      run(body("    return (x, {\"sum\": torch.sum(x), \"all\": [torch.neg(x)]})\n"), {"x=2"}, {Tensor({2}, std::vector<float>{1, 2})});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs.at("output_0").to_f32(), (std::vector<float>{1, 2}));
  EXPECT_EQ(outputs.at("output_1.sum").to_f32(), (std::vector<float>{3}));
  EXPECT_EQ(outputs.at("output_1.all.0").to_f32(), (std::vector<float>{-1, -2}));
}

TEST_F(TorchScript, InputsMayBeListsAndMayBeMissing) {
  auto m = body(
      "    y = torch.add(xs[0], xs[1])\n"
      "    if torch.__is__(mask, None):\n      z = y\n"
      "    else:\n      z = torch.mul(y, mask)\n"
      "    return torch.mul(z, scale)\n",
      "xs: List[Tensor],\n    mask: Optional[Tensor]=None,\n    scale: float=3.");
  const Tensor a({2}, std::vector<float>{1, 2}), b({2}, std::vector<float>{10, 20}), mask({2}, std::vector<float>{0, 1});
  EXPECT_EQ(one(m, {"xs.0=2", "xs.1=2"}, {a, b}), (std::vector<float>{33, 66}));
  EXPECT_EQ(one(m, {"xs.0=2", "xs.1=2", "mask=2"}, {a, b, mask}), (std::vector<float>{0, 66}));
}

// As models that keep keys and values take those of the steps before.
TEST_F(TorchScript, InputsMayBeTuplesInTuplesAndDictionaries) {
  auto pairs = body(
      "    a, b, = past\n"
      "    c, d, = b\n"
      "    e, f, = layers[1]\n"
      "    return torch.add(torch.sub(a, c), torch.mul(torch.mul(d, f), named[\"k.0\"]))\n",
      "past: Tuple[Tensor, Tuple[Tensor, Tensor]],\n    layers: List[Tuple[Tensor, Tensor]],\n    named: Dict[str, Tensor]");
  const std::string missing = refused(pairs.bytes(), {"past.0=1", "past.1.0=1", "layers.0.0=1", "layers.0.1=1", "named.k.0=1"});
  EXPECT_THAT(missing, HasSubstr("TS021 input 'past.1.1' has no shape in the archive\n  hint: give it: --input-shape past.1.1="));
  auto number = [](float v) { return Tensor({1}, std::vector<float>{v}); };
  EXPECT_EQ(
      one(pairs, {"past.0=1", "past.1.0=1", "past.1.1=1", "layers.0.0=1", "layers.0.1=1", "layers.1.0=1", "layers.1.1=1", "named.k.0=1"},
          {number(1), number(2), number(3), number(4), number(5), number(6), number(7), number(8)}),
      (std::vector<float>{1 - 2 + 3 * 7 * 8}));
}

// ---- what is refused

TEST_F(TorchScript, ShapesAreAskedFor) {
  EXPECT_THAT(refused(body("    return x\n").bytes(), {}),
              HasSubstr("TS021 input 'x' has no shape in the archive\n  hint: give it: --input-shape x=1,3,224,224"));
  EXPECT_THAT(refused(body("    return x\n").bytes(), {"x=1", "y=1"}), HasSubstr("TS022 --input-shape y: the model has no input 'y'"));
  EXPECT_THAT(refused(body("    return x\n").bytes(), {"x=1:F33"}), HasSubstr("IP003"));
}

TEST_F(TorchScript, AllUnsupportedOperatorsAreReportedAtOnce) {
  auto m = body(
      "    a = torch.bernoulli(x)\n"
      "    b = torch.relu(torch.svd(a))\n"
      "    c = ops.torchvision.nms(x, x, 0.5)\n"
      "    d = torch.svd(x)\n"
      "    return torch.add(b, torch.add(c, d))\n");
  EXPECT_EQ(
      refused(m.bytes()),
      "TS030 the model uses 3 operators that are not supported\n"
      "  note: operator ops.torchvision.nms: the size of its result depends on values, while a compiled model has fixed shapes; used by 1 "
      "node: (code/__torch__.py:8)\n"
      "  note: operator torch.bernoulli: its result is random, while a compiled model gives the same result for the same input; used by 1 "
      "node: (code/__torch__.py:6)\n"
      "  note: operator torch.svd: not read yet: write this part of the model with operators that are (docs/formats/torchscript.md), or "
      "leave it out and compute it before or after the model; used by 1 node: (code/__torch__.py:9)\n");
}

TEST_F(TorchScript, ErrorsOfOperatorsHaveTheirPlace) {
  const std::string text = refused(body("    y = torch.reshape(x, [5])\n    return torch.dropout(x, 0.5, True)\n").bytes());
  EXPECT_THAT(text, HasSubstr("TS040 node 'reshape' (torch.reshape, code/__torch__.py:6): shape [2, 3] cannot become"));
  EXPECT_THAT(text, HasSubstr("TS040 node 'dropout' (torch.dropout, code/__torch__.py:7): is in training mode"));
  EXPECT_THAT(text, HasSubstr("hint: call model.eval()"));
}

TEST_F(TorchScript, ConditionsMustBeKnown) {
  const std::string text =
      refused(body("    if bool(torch.gt(torch.sum(x), 0)):\n      y = x\n    else:\n      y = torch.neg(x)\n    return y\n").bytes());
  EXPECT_THAT(text, HasSubstr("(bool, code/__torch__.py:6): its argument 'condition' is computed at run time; it must be constant"));
}

TEST_F(TorchScript, LoopsMustBeKnown) {
  EXPECT_THAT(refused(body("    y = x\n    for i in 3:\n      y = torch.neg(y)\n    return y\n").bytes()),
              HasSubstr("TS051 code/__torch__.py:7: a loop goes through the integer 3; lists whose length is known are supported"));
}

TEST_F(TorchScript, AProgramMayRefuseItsInputs) {
  const TorchArchive m = body(
      "    if torch.ne(torch.size(x, 1), 3):\n"
      "      ops.prim.RaiseException(\"three columns\")\n"
      "    return torch.neg(x)\n");
  const std::string text = refused(m.bytes(), {"x=1,4"});
  EXPECT_THAT(text, HasSubstr("TS052"));
  EXPECT_THAT(text, HasSubstr("the program ends with an error of its own: three columns"));
  EXPECT_THAT(text, HasSubstr("hint: the model may take inputs of other shapes only: --input-shape NAME=SIZES"));
  EXPECT_THAT(one(m, {"x=1,3"}, {Tensor({1, 3}, std::vector<float>{1, 2, 3})}), ::testing::ElementsAre(-1, -2, -3));
}

TEST_F(TorchScript, AMethodMustBeThere) {
  host_.plugin_options["frontend.torchscript"].set("method", "forwrad");
  EXPECT_THAT(refused(body("    return torch.neg(x)\n").bytes()),
              HasSubstr("TS041 class '__torch__.M' has no method 'forwrad'\n"
                        "  hint: choose one: --set frontend.torchscript.method=forward; it has: forward\n"));
}

TEST_F(TorchScript, NothingIsExecuted) {
  TorchArchive m = body("    return x\n");
  m.member("data.pkl", cat("\x80\x02", "cposix\nsystem\n", TorchArchive::text("true"), "\x85R."));
  EXPECT_THAT(refused(m.bytes()),
              HasSubstr("TS003 its member 'data.pkl' refers to 'posix.system', which TorchScript does not write; nothing of it is run"));
}

TEST_F(TorchScript, TensorsOfOtherKinds) {
  auto with = [&](const std::string& function) {
    TorchArchive m = body("    return x\n");
    m.member("data.pkl", cat("\x80\x02", "ctorch._utils\n", function, "\n)R."));
    return refused(m.bytes());
  };
  EXPECT_THAT(with("_rebuild_qtensor"),
              HasSubstr("TS005 its member 'data.pkl' has a quantised tensor, which is not read: save the model in float32"));
  EXPECT_THAT(with("_rebuild_sparse_tensor"),
              HasSubstr("TS005 its member 'data.pkl' has a sparse tensor, which is not read: save it with to_dense()"));
}

TEST_F(TorchScript, ProgramsWithoutAnEndAreEnded) {
  EXPECT_THAT(refused(body("    a = True\n    while a:\n      b = 1\n    return x\n").bytes()), HasSubstr("TS050"));
  EXPECT_THAT(refused(body("    return (self).forward(x, )\n").bytes()), HasSubstr("TS050"));
  EXPECT_THAT(refused(body(cat("    return ", std::string(5000, '('), "x", std::string(5000, ')'), "\n")).bytes()), HasSubstr("TS004"));
  EXPECT_THAT(refused(body("    a = [1]\n    for i in range(40):\n      _0 = torch.extend(a, a)\n    return x\n").bytes()),
              HasSubstr("makes a list longer"));
}

TEST_F(TorchScript, StatesBetweenRunsAreRefused) {
  TorchArchive m;
  m.field("n", m.tensor(Tensor({3}, std::vector<float>{1, 2, 3})));
  m.forward("x: Tensor", "    n = self.n\n    _0 = torch.add_(n, 1)\n    return torch.add(x, n)\n");
  EXPECT_THAT(refused(m.bytes()), HasSubstr("changes 'n' of the model"));
  m.forward("x: Tensor", "    self.n = x\n    return x\n");
  EXPECT_THAT(refused(m.bytes()), HasSubstr("keeps a tensor in 'n' for the next run"));
}

TEST_F(TorchScript, OtherArchivesOfPyTorchAreToldApart) {
  TorchArchive states;
  states.member("data.pkl", "\x80\x02}.");
  EXPECT_THAT(refused(states.bytes()), HasSubstr("it is an archive of torch.save, not of torch.jit.save"));
  EXPECT_THAT(refused("\x80\x02}q"), HasSubstr("is a pickle of an old version of torch.save"));
  EXPECT_THAT(refused("hello"), HasSubstr("is not a complete zip archive"));
  TorchArchive outside;
  outside.field("w", outside.tensor(Tensor({4}, std::vector<float>{1, 2, 3, 4}), {3}, {2}));
  outside.forward("x: Tensor", "    return torch.add(x, self.w)\n");
  EXPECT_THAT(refused(outside.bytes()), HasSubstr("TS005 tensor 'w' of shape [3] lies outside its storage of 4 elements"));
}

// Any bytes give a graph or a diagnostic. Members are damaged before they are packed, since checksums would find all else.
TEST_F(TorchScript, DamagedMembersAreReadOrRefused) {
  Rng rng(5);
  TorchArchive m;
  m.field("fc", TorchArchive::object("__torch__.L", {{"weight", m.tensor(pattern({2, 3}))}, {"n", TorchArchive::integer(2)}}));
  m.code("__torch__",
         "class L(Module):\n  weight : Tensor\n  n : int\n  def forward(self: __torch__.L,\n    x: Tensor) -> Tensor:\n"
         "    if torch.eq(self.n, 2):\n      y = torch.linear(x, self.weight, None)\n    else:\n      y = x\n    return "
         "torch.add_(torch.relu(y), 1.5)\n"
         "class M(Module):\n  fc : __torch__.L\n  def forward(self: __torch__.M,\n    x: Tensor) -> Dict[str, Tensor]:\n"
         "    fc = self.fc\n    a, b, = torch.split(torch.cat([x, x], 0), 2)\n    return {\"y\": (fc).forward(a, ), \"z\": torch.slice(b, "
         "0, 0, 1)}\n");
  const std::string good = m.bytes();
  ASSERT_TRUE(import_archive(good, {"x=2,3"}));
  int imported = 0;
  for (int i = 0; i < 3000; ++i) {
    TorchArchive damaged = m;
    damaged.member("data.pkl", m.pickle());
    std::string& text = damaged.members()[i % 2 == 0 ? "code/__torch__.py" : "data.pkl"];
    for (std::uint64_t k = 0; k <= rng.below(3); ++k) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(4)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(at, 1 + rng.below(4));
          break;
        case 2:
          text.insert(at, text.substr(rng.below(text.size()), 1 + rng.below(30)));
          break;
        default:
          text.resize(at + 1);
      }
    }
    auto graph = import_archive(damaged.bytes(), {"x=2,3"});
    if (graph) {
      ++imported;
      continue;
    }
    ASSERT_FALSE(graph.failure().empty());
    for (const auto& d : graph.failure().diagnostics()) ASSERT_NE(d.fault, Fault::bug) << d.message;
  }
  EXPECT_GT(imported, 10);
}

// ---- operators against formulas

struct Formula {
  const char* call;
  float (*of)(float);
};

TEST_F(TorchScript, FunctionsOfEachElement) {
  const Formula formulas[] = {
      {"torch.silu(x)", [](float v) { return v / (1 + std::exp(-v)); }},
      {"torch.hardsigmoid(x)", [](float v) { return std::min(std::max(v + 3, 0.0f), 6.0f) / 6; }},
      {"torch.hardtanh(x, -0.5, 0.75)", [](float v) { return std::min(std::max(v, -0.5f), 0.75f); }},
      {"torch.clamp_min(x, 0.25)", [](float v) { return std::max(v, 0.25f); }},
      {"torch.rsub(x, 1., 2)", [](float v) { return 1 - 2 * v; }},
      {"torch.log1p(torch.abs(x))", [](float v) { return std::log1p(std::abs(v)); }},
      {"torch.rsqrt(torch.add(torch.square(x), 1))", [](float v) { return 1 / std::sqrt(v * v + 1); }},
      {"torch.softplus(x, 2., 20.)", [](float v) { return std::log(1 + std::exp(2 * v)) / 2; }},
      {"torch.masked_fill(x, torch.lt(x, 0), 7)", [](float v) { return v < 0 ? 7.0f : v; }},
      {"torch.where(torch.ge(x, 0.5), x, torch.neg(x))", [](float v) { return v >= 0.5f ? v : -v; }},
      {"torch.pow(x, 3)", [](float v) { return v * v * v; }},
      {"torch.trunc(torch.mul(x, 3))", [](float v) { return std::trunc(3 * v); }},
      {"torch.threshold(x, 0.1, -5.)", [](float v) { return v > 0.1f ? v : -5.0f; }},
      {"torch.remainder(x, 0.75)", [](float v) { return v - 0.75f * std::floor(v / 0.75f); }},
      {"torch.elu(x, 2.)", [](float v) { return v < 0 ? 2 * (std::exp(v) - 1) : v; }},
  };
  const Tensor x = pattern({3, 5});
  for (const Formula& f : formulas) {
    SCOPED_TRACE(f.call);
    std::vector<float> expected = x.to_f32();
    for (float& v : expected) v = f.of(v);
    expect_near(one(body(cat("    return ", f.call, "\n")), {"x=3,5"}, {x}), expected, 1e-5);
  }
}

TEST_F(TorchScript, PartsAndPlaces) {
  const Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::pair<const char*, std::vector<float>> cases[] = {
      {"torch.index(x, [None, torch.tensor([2, 0])])", {3, 1, 6, 4}},
      {"torch.index(x, [torch.tensor([1, 0]), torch.tensor([2, -3])])", {6, 1}},
      {"torch.gather(x, 1, torch.tensor([[2], [0]]))", {3, 4}},
      {"torch.roll(x, [1], [1])", {3, 1, 2, 6, 4, 5}},
      {"torch.flip(x, [0, 1])", {6, 5, 4, 3, 2, 1}},
      {"torch.repeat(torch.select(x, 0, 0), [2, 1])", {1, 2, 3, 1, 2, 3}},
      {"torch.var(x, [1], False, True)", {2.0f / 3, 2.0f / 3}},
      {"torch.norm(x, 2, [1])", {std::sqrt(14.0f), std::sqrt(77.0f)}},
      {"torch.einsum(\"ij,kj->ik\", [x, x])", {14, 32, 32, 77}},
      {"torch.index_put(x, [torch.tensor([1])], torch.tensor([9., 8., 7.]))", {1, 2, 3, 9, 8, 7}},
      {"torch.arange(1, 7, 2, dtype=6)", {1, 3, 5}},
      {"torch.constant_pad_nd(x, [1, -1], 0.5)", {0.5f, 1, 2, 0.5f, 4, 5}},
      {"torch.adaptive_avg_pool1d(x, [2])", {1.5f, 2.5f, 4.5f, 5.5f}},
      {"torch.unfold(x, 1, 2, 1)", {1, 2, 2, 3, 4, 5, 5, 6}},
      {"torch.unfold(x, 0, 2, 1)", {1, 4, 2, 5, 3, 6}},
      {"torch.im2col(torch.unsqueeze(x, 0), [2, 2], [1, 1], [0, 0], [1, 1])", {1, 2, 2, 3, 4, 5, 5, 6}},
      {"torch.index_add(x, 1, torch.tensor([2, 2]), torch.tensor([[1., 2.], [3., 4.]]))", {1, 2, 6, 4, 5, 13}},
      {"torch.index_copy(x, 0, torch.tensor([1]), torch.tensor([[9., 8., 7.]]))", {1, 2, 3, 9, 8, 7}},
  };
  for (const auto& [call, expected] : cases) {
    SCOPED_TRACE(call);
    expect_near(one(body(cat("    return ", call, "\n")), {"x=2,3"}, {x}), expected);
  }
}

// ---- the page

TEST_F(TorchScript, ThePageListsWhatIsRead) { expect_page_lists_operators("torchscript"); }

}  // namespace
}  // namespace buda::test
