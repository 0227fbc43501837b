// SPDX-License-Identifier: Apache-2.0
// The graph file: what is written comes back, tensors are not copied without need, and mistakes are shown where they are.
#include <buda/base/text.hpp>
#include <buda/graph/check/diff.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/file/tensor_series.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/fused_body.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/json.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <limits>

namespace buda::graph {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor f32(Shape shape, std::vector<float> v) { return Tensor(std::move(shape), std::move(v)); }

void set_type(Graph& g, NodeId id, ValueType type) { g.node(id).outputs = {std::move(type)}; }

NodeId add_value(Graph& g, const std::string& name, const std::string& op, const Tensor& t) {
  NodeId id = g.add(name, op);
  g.node(id).value = Value(t);
  set_type(g, id, {t.dtype(), t.shape(), std::nullopt});
  return id;
}

// A small model with two weights.
Graph small() {
  Graph g("small");
  NodeId x = g.add("x", "input");
  set_type(g, x, {DType::f32, {1, 2}, std::nullopt});
  NodeId w = add_value(g, "w", "parameter", f32({2, 2}, {1, 2, 3, 4})), b = add_value(g, "b", "constant", f32({2}, {5, 6}));
  NodeId m = g.add("m", "matmul", {x, w, b});
  set_type(g, m, {DType::f32, {1, 2}, std::nullopt});
  g.node(m).origins = {{"small.onnx", "MatMul_0"}};
  g.add("y", "output", {m});
  return g;
}

// Everything that the format can say.
Graph full() {
  Graph g("full \"model\" \xc3\xa9", Level::device);
  g.tags = {{"producer", "test"}};
  ValueType tile{DType::f32, {1, 4, 64, 64}, DataFormat::bfp8_b};
  NodeId second = g.add("second", "input"), first = g.add("first", "input");
  for (NodeId id : {first, second}) set_type(g, id, tile);
  g.order_inputs({first, second});
  NodeId w = add_value(g, "w", "parameter", f32({64, 64}, std::vector<float>(4096, 0.5f)));
  set_type(g, w, {DType::f32, {1, 1, 64, 64}, DataFormat::float16_b});
  NodeId tied = g.add("w.tied", "parameter");
  g.node(tied).value = g.node(w).value;
  set_type(g, tied, {DType::f32, {1, 1, 64, 64}, DataFormat::float16_b});
  NodeId reserved = add_value(g, "__metadata__", "constant", Tensor(Shape{1, 1, 32, 32}, std::vector<std::int64_t>(1024, 7)));
  NodeId all =
      g.add("all", "everything",
            {Edge(first, {Tm::broadcast(TmDim::r, 2), Tm::transpose(), Tm::hslice(2), Tm::vslice(2), Tm::hstack(2), Tm::vstack(4)}),
             Edge(second, {Tm::pad(1, 2, -0.5), Tm::unpad(1, 0), Tm::broadcast(TmDim::z, 3), Tm::broadcast(TmDim::c, 1)}), Edge(w),
             Edge(tied), Edge(reserved)});
  Node& n = g.node(all);
  n.outputs = {tile, {DType::i64, {1, 1, 32, 32}, std::nullopt}};
  n.attrs = {{"bool", true},
             {"int", std::int64_t{-5}},
             {"big", std::numeric_limits<std::int64_t>::min()},
             {"real", 0.1},
             {"whole_real", 3.0},
             {"zero", -0.0},
             {"nan", std::numeric_limits<double>::quiet_NaN()},
             {"inf", -kInf},
             {"text", std::string("a \"quoted\" \\ \n line")},
             {"nan_text", std::string("nan")},
             {"ints", std::vector<std::int64_t>{1, -2}},
             {"no_ints", std::vector<std::int64_t>{}},
             {"reals", std::vector<double>{1, 2.5}},
             {"odd_reals", std::vector<double>{1, kInf}},
             {"no_reals", std::vector<double>{}},
             {"texts", std::vector<std::string>{"a", ""}},
             {"no_texts", std::vector<std::string>{}}};
  n.precision = {DataFormat::float16_b, DataFormat::float32, MathFidelity::hifi3};
  n.tags = {{"layer", "3"}, {"dont_fuse", ""}};
  n.origins = {{"m.onnx", "Conv_1"}, {"m.onnx", "Relu_2"}};
  g.add("all", "output", {Edge(ValueRef(all, 1))});
  g.add("again", "output", {Edge(all, {Tm::transpose()})});
  return g;
}

std::string text_of(io::MemoryFileSystem& fs, const std::string& path) {
  const io::Bytes* bytes = fs.find(path);
  return bytes == nullptr ? "" : std::string(bytes->view());
}

Graph read_back(io::MemoryFileSystem& fs, const std::string& path) {
  auto g = read_graph(fs, path);
  if (g) return std::move(*g);
  for (const auto& d : g.failure().diagnostics())
    ADD_FAILURE() << d.loc.file << ':' << d.loc.line << ':' << d.loc.column << ": " << d.message;
  return Graph();
}

TEST(GraphFile, LooksAsThePageShows) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(write_graph(fs, small(), "out/small.graph.json"));
  EXPECT_EQ(text_of(fs, "out/small.graph.json"), R"({
  "schema": "buda.graph/1",
  "name": "small",
  "level": "tensor",
  "inputs": ["x"],
  "outputs": ["y"],
  "nodes": [
    {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 2]}]},
    {"name": "w", "op": "parameter", "types": [{"dtype": "F32", "shape": [2, 2]}], "value": "w"},
    {"name": "b", "op": "constant", "types": [{"dtype": "F32", "shape": [2]}], "value": "b"},
    {"name": "m", "op": "matmul", "inputs": ["x", "w", "b"], "types": [{"dtype": "F32", "shape": [1, 2]}], "origins": [{"file": "small.onnx", "node": "MatMul_0"}]},
    {"name": "y", "op": "output", "inputs": ["m"]}
  ],
  "tensors": [
    {"name": "w", "dtype": "F32", "shape": [2, 2], "file": "small.graph.safetensors"},
    {"name": "b", "dtype": "F32", "shape": [2], "file": "small.graph.safetensors"}
  ]
}
)");
  auto tensors = read_tensors(fs, "out/small.graph.safetensors");
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->at("w"), f32({2, 2}, {1, 2, 3, 4}));
}

// The graphs of a compilation, of which each has most of its tensors in common with those before.
TEST(GraphFile, GraphsOfASeriesShareTheirTensors) {
  io::MemoryFileSystem fs;
  TensorSeries series;
  std::vector<float> content(1000, 0.25f), other(1000, 0.5f);
  const auto graph = [&](const Shape& shape, float last) {
    Graph g("g", Level::tensor);
    other.back() = last;
    const NodeId same = add_value(g, "same", "parameter", Tensor(shape, content));  // other memory each time
    const NodeId changes = add_value(g, "changes", "parameter", f32({1000}, other));
    const NodeId small = add_value(g, "small", "constant", f32({2}, {1, 2}));
    for (const NodeId id : {same, changes, small}) g.add(cat("of ", g.node(id).name()), "output", {Edge(id)});
    return g;
  };
  const auto first = write_graph_of_series(fs, graph({10, 100}, 1), "d/1.graph.json", series);
  ASSERT_TRUE(first) << first.failure().diagnostics().front().message;
  ASSERT_TRUE(write_graph_of_series(fs, graph({1000}, 2), "d/2.graph.json", series));
  ASSERT_TRUE(write_graph_of_series(fs, graph({100, 10}, 1), "d/3.graph.json", series));
  EXPECT_EQ(read_tensors(fs, "d/1.graph.safetensors")->size(), 3u);
  EXPECT_EQ(read_tensors(fs, "d/2.graph.safetensors")->size(), 2u);
  EXPECT_EQ(read_tensors(fs, "d/3.graph.safetensors")->size(), 1u);
  const Graph last = read_back(fs, "d/3.graph.json");
  EXPECT_EQ(last.node(last.find("same")).value->tensor, Tensor(Shape{100, 10}, content));
  EXPECT_EQ(last.node(last.find("changes")).value->tensor.as<float>().back(), 1);
  EXPECT_EQ(read_back(fs, "d/2.graph.json").name, "g");
}

// A file has the body of a fused op as texts, which are parsed when it is read.
TEST(GraphFile, FusedBodiesAreValuesInMemoryAndTextsInFiles) {
  using Kind = FusedOperand::Kind;
  FusedBody body{
      {{"p: s", "tanh", {{Kind::input, 0}}, {Kind::intermed, 0}, {}, {{"approximate_mode", true}, {"relu_mode", std::string("max")}}},
       {"p", "multiply", {{Kind::intermed, 0}, {Kind::input, 1}}, {Kind::output, 0}, {{Kind::intermed, 0}}, {{"relu_threshold", 0.5}}}},
      1};
  Graph g("g", Level::device);
  NodeId x = g.add("x", "input");
  set_type(g, x, {DType::f32, {1, 1, 32, 32}, std::nullopt});
  NodeId p = g.add("p", "fused_op", {x, x});
  set_type(g, p, {DType::f32, {1, 1, 32, 32}, std::nullopt});
  g.node(p).attrs = {{"sub_ops", SharedBody(body)}};
  g.add("y", "output", {p});
  io::MemoryFileSystem fs;
  ASSERT_TRUE(write_graph(fs, g, "g.json"));
  EXPECT_THAT(
      text_of(fs, "g.json"),
      HasSubstr(R"("attrs": {"intermediates": 1, "sub_ops": ["{name: \"p: s\", type: tanh, inputs: [input0], output: intermed0, )"
                R"(attributes: {approximate_mode: true, relu_mode: max}}", "{name: p, type: multiply, inputs: [intermed0, input1], )"
                R"(pop: [intermed0], output: output, attributes: {relu_threshold: 0.5}}"]})"));
  Graph back = read_back(fs, "g.json");
  ASSERT_TRUE(std::holds_alternative<SharedBody>(back.node(back.find("p")).attrs.at("sub_ops")));
  EXPECT_EQ(*std::get<SharedBody>(back.node(back.find("p")).attrs.at("sub_ops")), body);
  EXPECT_TRUE(diff(g, back).empty());

  std::string broken = text_of(fs, "g.json");
  broken.replace(broken.find("input1"), 6, "inputs");
  fs.put("broken.json", broken);
  auto refused = read_graph(fs, "broken.json");
  ASSERT_FALSE(refused);
  const Diagnostic& d = refused.failure().diagnostics().front();
  EXPECT_EQ(d.code, "GR030");
  EXPECT_EQ(d.loc.line, 9u);
  EXPECT_EQ(d.message, "node 'p': sub-op 1 of 'sub_ops': inputs: the string 'inputs' is not one of inputN, intermedN, dest, output");
}

TEST(GraphFile, EverythingComesBack) {
  io::MemoryFileSystem fs;
  Graph g = full();
  ASSERT_TRUE(write_graph(fs, g, "a/full.json"));
  Graph back = read_back(fs, "a/full.json");
  EXPECT_EQ(diff(g, back), std::vector<std::string>{});
  EXPECT_EQ(back.node(back.find("w")).value->tensor.bytes().data(), back.node(back.find("w.tied")).value->tensor.bytes().data());
  // Written again without change: same bytes, and the tensor file is left alone.
  std::string before = text_of(fs, "a/full.json");
  const char* tensors = fs.find("a/full.safetensors")->data();
  ASSERT_TRUE(write_graph(fs, back, "a/full.json"));
  EXPECT_EQ(text_of(fs, "a/full.json"), before);
  EXPECT_EQ(fs.find("a/full.safetensors")->data(), tensors);
}

TEST(GraphFile, TextAloneComesBackToo) {
  io::MemoryFileSystem fs;
  Graph g = full();
  ASSERT_TRUE(write_graph(fs, g, "-"));
  EXPECT_EQ(fs.files().size(), 1u);
  Graph back = read_back(fs, "-");
  EXPECT_EQ(diff(g, back), std::vector<std::string>{});
  EXPECT_EQ(graph_text(back), text_of(fs, "-"));
  EXPECT_EQ(back.node(back.find("first")).loc.file, "<stdin>");
  // What came through a pipe is written to a file of tensors again.
  ASSERT_TRUE(write_graph(fs, back, "b/full.json"));
  EXPECT_NE(fs.find("b/full.safetensors"), nullptr);
}

TEST(GraphFile, UnchangedTensorsStayWhereTheyAre) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(write_graph(fs, small(), "models/v1/g.json"));
  Graph g = read_back(fs, "models/v1/g.json");
  ASSERT_TRUE(write_graph(fs, g, "out/g2.json"));
  EXPECT_EQ(fs.find("out/g2.safetensors"), nullptr);
  EXPECT_THAT(text_of(fs, "out/g2.json"), HasSubstr(R"("file": "../models/v1/g.safetensors"})"));

  // One changes, one is seen under another name and shape.
  Graph h = read_back(fs, "out/g2.json");
  h.node(h.find("w")).value = Value(f32({2, 2}, {9, 9, 9, 9}));
  auto view = h.node(h.find("b")).value->tensor.reshaped({1, 2});
  h.node(h.find("b")).value->tensor = *view;
  set_type(h, h.find("b"), {DType::f32, {1, 2}, std::nullopt});
  h.rename(h.find("b"), "bias");
  ASSERT_TRUE(write_graph(fs, h, "out/g3.json"));
  EXPECT_THAT(text_of(fs, "out/g3.json"), HasSubstr(R"({"name": "w", "dtype": "F32", "shape": [2, 2], "file": "g3.safetensors"})"));
  EXPECT_THAT(text_of(fs, "out/g3.json"),
              HasSubstr(R"({"name": "bias", "dtype": "F32", "shape": [1, 2], "file": "../models/v1/g.safetensors", "tensor": "b"})"));
  EXPECT_EQ(read_tensors(fs, "out/g3.safetensors")->size(), 1u);
  EXPECT_EQ(diff(h, read_back(fs, "out/g3.json")), std::vector<std::string>{});
}

TEST(GraphFile, AGraphWrittenOverItselfKeepsItsTensors) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(write_graph(fs, small(), "g.json"));
  Graph g = read_back(fs, "g.json");
  g.node(g.find("w")).value = Value(f32({2, 2}, {9, 9, 9, 9}));
  ASSERT_TRUE(write_graph(fs, g, "g.json"));
  EXPECT_EQ(diff(g, read_back(fs, "g.json")), std::vector<std::string>{});
}

TEST(GraphFile, TheFolderDoesNotMatter) {
  std::string texts[2];
  for (int i = 0; i < 2; ++i) {
    io::MemoryFileSystem fs;
    std::string root = i == 0 ? "/home/someone/models/" : "elsewhere/";
    ASSERT_TRUE(write_graph(fs, small(), root + "in/g.json"));
    ASSERT_TRUE(write_graph(fs, read_back(fs, root + "in/g.json"), root + "out/g.json"));
    texts[i] = text_of(fs, root + "out/g.json");
    EXPECT_THAT(texts[i], Not(HasSubstr("some")));
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(GraphFile, LinksAndFoldersOfTheMachine) {
  namespace stdfs = std::filesystem;
  stdfs::path root = stdfs::path(testing::TempDir()) / cat("graph_file_test-", static_cast<long>(::getpid()));
  stdfs::create_directories(root / "deep" / "a");
  stdfs::create_directories(root / "b");
  stdfs::create_directory_symlink(root / "deep" / "a", root / "link");
  auto fs = io::make_real_file_system();
  ASSERT_TRUE(write_graph(*fs, small(), (root / "deep/a/g.json").string()));
  // "link/.." is not the folder in which "link" lies.
  auto g = read_graph(*fs, (root / "link/g.json").string());
  ASSERT_TRUE(g);
  ASSERT_TRUE(write_graph(*fs, *g, (root / "b/h.json").string()));
  auto text = fs->read((root / "b/h.json").string());
  ASSERT_TRUE(text);
  EXPECT_THAT(std::string(text->view()), HasSubstr(R"("file": "../deep/a/g.safetensors"})"));
  auto h = read_graph(*fs, (root / "b/h.json").string());
  ASSERT_TRUE(h);
  EXPECT_EQ(diff(*g, *h), std::vector<std::string>{});
  // Over itself, through the link: not by who has read it, but by another.
  h->node(h->find("w")).value = Value(f32({2, 2}, {9, 9, 9, 9}));
  EXPECT_FALSE(write_graph(*fs, *h, (root / "link/g.json").string()));
  ASSERT_TRUE(write_graph(*io::make_real_file_system(), *h, (root / "link/g.json").string()));
  auto again = read_graph(*fs, (root / "deep/a/g.json").string());
  ASSERT_TRUE(again);
  EXPECT_EQ(diff(*h, *again), std::vector<std::string>{});
  stdfs::remove_all(root);
}

TEST(GraphFile, RefusesToWriteWhatIsNotSound) {
  io::MemoryFileSystem fs;
  Graph g = small();
  g.erase(g.find("w"));
  EXPECT_FALSE(write_graph(fs, g, "g.json"));
  EXPECT_TRUE(fs.files().empty());
}

TEST(GraphFile, ReadsWhatPeopleWrite) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(write_tensors(fs, "w/one.npy", {{"one", f32({2}, {7, 8})}}));
  fs.put("hand.json", R"({"schema": "buda.graph/1", "name": "hand", "level": "tensor", "x-note": "by hand",
 "nodes": [
  {"name": "y", "op": "output", "inputs": ["sum"]},
  {"name": "sum", "op": "add", "inputs": [{"from": "x"}, "c"]},
  {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [2]}]},
  {"name": "c", "op": "constant", "value": "c"},
  {"name": "d", "op": "constant", "value": "d"}, {"name": "e", "op": "constant", "value": "e"}, {"name": "f", "op": "constant", "value": "f"}
 ],
 "tensors": [
  {"name": "c", "dtype": "F32", "shape": [2], "values": [1, "-inf"]},
  {"name": "d", "dtype": "I64", "shape": [], "values": [9007199254740993]},
  {"name": "e", "dtype": "BOOL", "shape": [1, 2], "values": [true, false]},
  {"name": "f", "dtype": "F32", "shape": [2, 1], "file": "w/one.npy", "tensor": "one"}
 ]})");
  Graph g = read_back(fs, "hand.json");
  EXPECT_EQ(g.node(g.find("sum")).loc, (SourceLoc{"hand.json", 4, 3}));
  EXPECT_TRUE(g.node(g.find("sum")).outputs.empty());
  EXPECT_EQ(g.node(g.find("c")).value->tensor, f32({2}, {1, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(g.node(g.find("c")).outputs[0].text(), "F32 [2]");
  EXPECT_EQ(g.node(g.find("d")).value->tensor.as<std::int64_t>()[0], 9007199254740993);
  EXPECT_EQ(g.node(g.find("e")).value->tensor.dtype(), DType::boolean);
  EXPECT_EQ(g.node(g.find("f")).value->tensor, f32({2, 1}, {7, 8}));
  EXPECT_EQ(g.outputs().size(), 1u);
  // Tensors of a file are relative to it, whatever the way to it.
  EXPECT_EQ(g.node(g.find("f")).value->source, (TensorSource{"w/one.npy", "one"}));
}

// ---- mistakes

// Every error as line:column: code message (hint).
std::vector<std::string> errors(const std::string& text) {
  io::MemoryFileSystem fs;
  fs.put("bad.json", text);
  auto g = read_graph(fs, "bad.json");
  std::vector<std::string> out;
  if (g) return out;
  for (const auto& d : g.failure().diagnostics()) {
    std::string hint = d.hint.empty() ? "" : cat(" (", d.hint, ')');
    out.push_back(cat(d.loc.line, ':', d.loc.column, ": ", d.code, ' ', d.message, hint));
    for (const auto& n : d.notes) out.push_back(cat("  ", n.loc.line, ':', n.loc.column, ": ", n.message));
  }
  return out;
}

using Errors = std::vector<std::string>;

const std::string kHead = "{\"schema\": \"buda.graph/1\", \"name\": \"g\", \"level\": \"tensor\",\n\"nodes\": [\n";
const std::string kX = "{\"name\": \"x\", \"op\": \"input\", \"types\": [{\"dtype\": \"F32\", \"shape\": [2]}]},\n";
const std::string kY = "{\"name\": \"y\", \"op\": \"output\", \"inputs\": [\"x\"]}\n";

std::string file(const std::string& nodes, const std::string& rest = "]}") { return kHead + nodes + rest; }

TEST(BadGraphFile, NotAGraph) {
  EXPECT_EQ(errors(""), Errors{"1:1: IO020 the file is empty; expected JSON"});
  EXPECT_EQ(errors("[]"), Errors{"1:1: SC001 expected a graph (a map), found a list"});
  EXPECT_EQ(errors("{\"schema\": \"buda.graph/2\"}"),
            Errors{"1:12: SC007 this is version 'buda.graph/2'; this program reads buda.graph/1"});
  EXPECT_EQ(errors("{\"schema\": \"buda.device/1\"}"),
            Errors{"1:12: SC006 this is a file of format 'buda.device/1'; expected buda.graph/1"});
}

TEST(BadGraphFile, KeysAndKinds) {
  EXPECT_EQ(errors(file("{\"name\": \"x\", \"op\": \"input\", \"type\": []},\n{\"nmae\": \"y\", \"op\": 5, \"inputs\": \"x\"}")),
            (Errors{
                "3:38: SC002 unknown key 'type' in a node (did you mean 'types'?)",
                "4:10: SC002 unknown key 'nmae' in a node (did you mean 'name'?)",
                "4:1: SC003 the key 'name' is missing in a node",
                "4:21: IO010 expected a string, found the number 5",
                "4:34: SC001 expected a list, found the string 'x'",
            }));
  EXPECT_EQ(errors(file(kX + "{\"name\": \"y\", \"op\": \"output\", \"inputs\": [{\"form\": \"x\", \"port\": -1}]}")),
            (Errors{
                "4:51: SC002 unknown key 'form' in an input (did you mean 'from'?)",
                "4:42: SC003 the key 'from' is missing in an input",
                "4:64: SC005 the number -1 is out of range; allowed: 0 to 4294967295",
            }));
}

TEST(BadGraphFile, TypesFormatsAndAttributes) {
  EXPECT_EQ(
      errors(file(
          "{\"name\": \"x\", \"op\": \"input\", \"types\": [{\"dtype\": \"f32\", \"shape\": [2.5]}], \"attrs\": {\"a\": null, \"b\": [1, "
          "\"c\"], \"c\": {\"real\": \"many\"}}, \"accumulate\": \"Float17\", \"fidelity\": \"HiFi5\"}")),
      (Errors{
          "3:50: SC004 'f32' is not allowed here; allowed: BOOL, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64 (did you mean "
          "'F32'?)",
          "3:67: IO010 expected an integer, found the number 2.5",
          "3:90: SC001 expected an attribute, found null",
          "3:101: SC001 expected a list of numbers or a list of strings, found a list",
          "3:125: IO010 expected a number, found the string 'many'",
          "3:149: TN010 'Float17' is not a data format; there are Float32, Float16, Bfp8, Bfp4, Float16_b, Bfp8_b, Bfp4_b, Int32, "
          "UInt16, "
          "Lf8, Bfp2, Int8, Bfp2_b, Fp8_e4m3, UInt8, RawUInt8, RawUInt16, RawUInt32 (did you mean 'Float16'?)",
          "3:172: SC004 'HiFi5' is not allowed here; allowed: LoFi, HiFi2, HiFi3, HiFi4 (did you mean 'HiFi2'?)",
      }));
}

TEST(BadGraphFile, Manipulations) {
  std::string node =
      "{\"name\": \"a\", \"op\": \"nop\", \"inputs\": [{\"from\": \"x\", \"tms\": [\"hslice\", {\"hslise\": 2}, {\"broadcast\": 3},\n"
      "{\"broadcast\": {\"w\": 3}}, {\"pad\": [1, 2]}, {\"vslice\": \"two\"}, {\"transpose\": 1}, 7]}]}\n";
  EXPECT_EQ(
      errors(file(kX + node)),
      (Errors{
          "4:61: SC001 expected a manipulation: \"transpose\", {\"broadcast\": {\"r\": 4}}, {\"hslice\": 2}, {\"pad\": [1, 0, 0.0]}, …, "
          "found the string 'hslice'",
          "4:71: SC004 'hslise' is not allowed here; allowed: broadcast, hslice, hstack, pad, transpose, unpad, vslice, vstack (did you "
          "mean "
          "'hslice'?)",
          "4:100: SC001 expected the axis and the factor of a broadcast, like {\"r\": 4}, found the number 3",
          "5:15: SC004 'w' is not allowed here; allowed: r, c, z",
          "5:34: SC001 expected tile rows, tile columns and value, like [1, 0, 0.0], found a list",
          "5:54: IO010 expected an integer, found the string 'two'",
          "5:62: SC001 expected a manipulation: \"transpose\", {\"broadcast\": {\"r\": 4}}, {\"hslice\": 2}, {\"pad\": [1, 0, 0.0]}, …, "
          "found a map",
          "5:80: SC001 expected a manipulation: \"transpose\", {\"broadcast\": {\"r\": 4}}, {\"hslice\": 2}, {\"pad\": [1, 0, 0.0]}, …, "
          "found the number 7",
      }));
}

TEST(BadGraphFile, NamesThatDoNotFit) {
  EXPECT_EQ(
      errors(file(kX + "{\"name\": \"x\", \"op\": \"relu\", \"inputs\": [\"sum\"]},\n{\"name\": \"rum\", \"op\": \"constant\", \"value\": "
                       "\"w\"},\n{\"name\": \"\", \"op\": \"relu\"},\n{\"name\": \"y\", \"op\": \"output\", \"inputs\": [\"run\"]}",
                  "], \"inputs\": [\"rum\"], \"outputs\": []}")),
      (Errors{
          "4:1: GR020 a second node is called 'x'",
          "  3:1: the first one",
          "5:1: GR021 node 'rum': there is no tensor 'w'",
          "6:1: GR001 a node's name must not be empty",
          "7:42: GR021 node 'y': there is no node 'run' to take an input from (did you mean 'rum'?)",
          "7:63: GR026 there is no input node 'rum'",
          "7:82: GR026 the list 'outputs' must name every output node once",
      }));
}

TEST(BadGraphFile, Tensors) {
  auto tensors = [](const std::string& list) { return file(kX + kY, "],\n\"tensors\": [\n" + list + "]}"); };
  EXPECT_EQ(errors(tensors("{\"name\": \"a\", \"dtype\": \"F32\", \"shape\": [1]},\n"
                           "{\"name\": \"b\", \"dtype\": \"F32\", \"shape\": [3], \"data\": \"AAAA\"},\n"
                           "{\"name\": \"c\", \"dtype\": \"F32\", \"shape\": [3], \"data\": \"AAA\"},\n"
                           "{\"name\": \"d\", \"dtype\": \"U8\", \"shape\": [4611686018427387904, 4], \"values\": []},\n"
                           "{\"name\": \"e\", \"dtype\": \"U8\", \"shape\": [2], \"values\": [256, \"x\"]},\n"
                           "{\"name\": \"f\", \"dtype\": \"U8\", \"shape\": [2], \"file\": \"none.npz\"},\n"
                           "{\"name\": \"f\", \"dtype\": \"U8\", \"shape\": [2], \"file\": \"none.npz\"},\n"
                           "{\"name\": \"g\", \"dtype\": \"U8\", \"shape\": [2], \"file\": \"none.npz\", \"data\": \"\"},\n"
                           "{\"name\": \"h\", \"dtype\": \"F64\", \"shape\": [-1], \"data\": \"\"}\n")),
            (Errors{
                "7:1: GR022 the tensor 'a' must have exactly one of 'file', 'data' and 'values', and has 0",
                "8:1: GR024 the tensor 'b': a tensor of shape [3] and type F32 takes 12 bytes, not 3",
                "9:53: GR025 the data of tensor 'c' is not base64",
                "10:1: GR024 the tensor 'd' has 0 values, which do not fill the shape [4611686018427387904, 4]",
                "11:55: SC005 the number 256 is out of range; allowed: 0 to 255",
                "11:60: IO010 expected an integer, found the string 'x'",
                "0:0: IO001 cannot be read: no such file",
                "  12:1: referenced here",
                "13:1: GR020 duplicate tensor name 'f'",
                "14:1: GR022 the tensor 'g' must have exactly one of 'file', 'data' and 'values', and has 2",
                "15:1: GR024 the tensor 'h': a tensor of shape [-1] and type F64 cannot exist: sizes must not be negative, and all bytes "
                "together "
                "must fit in 63 bits",
            }));
}

TEST(BadGraphFile, TensorsOfAFile) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(write_tensors(fs, "t.safetensors", {{"weight", f32({2, 2}, {1, 2, 3, 4})}}));
  fs.put("bad.json", file(kX + kY,
                          "],\n\"tensors\": [\n{\"name\": \"a\", \"dtype\": \"F32\", \"shape\": [4], \"file\": \"t.safetensors\", "
                          "\"tensor\": \"wieght\"},\n{\"name\": \"b\", \"dtype\": \"F32\", \"shape\": [5], \"file\": "
                          "\"t.safetensors\", \"tensor\": \"weight\"}]}"));
  auto g = read_graph(fs, "bad.json");
  ASSERT_FALSE(g);
  const auto& found = g.failure().diagnostics();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].message, "'t.safetensors' has no tensor 'wieght'");
  EXPECT_EQ(found[0].hint, "did you mean 'weight'?");
  EXPECT_EQ(found[0].loc.line, 7u);
  EXPECT_EQ(found[1].message, "the tensor 'b' is declared as F32 [5], but in 't.safetensors' it is F32 [2, 2]");
}

TEST(BadGraphFile, UnsoundGraphs) {
  EXPECT_EQ(
      errors(file(
          kX +
          "{\"name\": \"a\", \"op\": \"add\", \"inputs\": [\"x\", \"b\"]},\n{\"name\": \"b\", \"op\": \"relu\", \"inputs\": [\"a\"]}")),
      (Errors{"4:1: GR004 node 'a': it depends on itself, through 'b'", "0:0: GR009 the graph 'g' has no output"}));
}

TEST(GraphFile, SchemaNamesEveryKey) {
  std::string schema = io::json_line(graph_file_schema());
  for (auto key : {"schema", "name",  "level",  "tags",         "inputs",     "outputs",  "nodes",   "tensors", "op",
                   "types",  "attrs", "value",  "intermediate", "accumulate", "fidelity", "origins", "dtype",   "shape",
                   "format", "file",  "tensor", "data",         "values",     "from",     "port",    "tms"})
    EXPECT_THAT(schema, HasSubstr(cat('"', key, "\": "))) << key;
}

TEST(GraphFile, TensorFileBesideTheGraph) {
  EXPECT_EQ(tensor_file_for("out/m.graph.json"), "out/m.graph.safetensors");
  EXPECT_EQ(tensor_file_for("m"), "m.safetensors");
  EXPECT_EQ(tensor_file_for("a.json/m"), "a.json/m.safetensors");
}

}  // namespace
}  // namespace buda::graph
