// SPDX-License-Identifier: Apache-2.0
// Control flow, functions, values known by computing them, values given by the user, sparse tensors.
#include "import_fixture.hpp"
#include "onnx_model.hpp"

#include <buda/base/text.hpp>

namespace buda::test {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::TensorProto;

class OnnxControl : public ImportTest {
 protected:
  static std::size_t count_of(const graph::Graph& graph, const std::string& op) {
    std::size_t n = 0;
    for (auto id : graph.ids()) n += graph.node(id).op() == op ? 1 : 0;
    return n;
  }
};

onnx::NodeProto& add(GraphProto& graph, const std::string& op, std::initializer_list<const char*> inputs,
                     std::initializer_list<const char*> outputs) {
  auto& node = *graph.add_node();
  node.set_op_type(op);
  for (const char* i : inputs) node.add_input(i);
  for (const char* o : outputs) node.add_output(o);
  return node;
}

GraphProto& body(OnnxModel& m, int node, const std::string& name) {
  auto& attribute = *m.graph().mutable_node(node)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(name);
  return *attribute.mutable_g();
}

void value(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& list, const std::string& name, int type = TensorProto::FLOAT) {
  auto& v = *list.Add();
  v.set_name(name);
  v.mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

void truth(OnnxModel& m, const std::string& name, bool v) {
  auto& t = *m.graph().add_initializer();
  t.set_name(name);
  t.set_data_type(TensorProto::BOOL);
  t.add_int32_data(v ? 1 : 0);
}

// y = cond ? x + x : -x, where both branches see x from outside.
OnnxModel choice(bool condition) {
  OnnxModel m;
  m.input("x", {2});
  truth(m, "cond", condition);
  m.node("If", {"cond"}, {"y"}).named("choice");
  auto& then_graph = body(m, 0, "then_branch");
  add(then_graph, "Add", {"x", "x"}, {"t"});
  value(*then_graph.mutable_output(), "t");
  auto& else_graph = body(m, 0, "else_branch");
  add(else_graph, "Neg", {"x"}, {"e"});
  value(*else_graph.mutable_output(), "e");
  m.output("y");
  return m;
}

TEST_F(OnnxControl, IfTakesTheBranchThatIsKnown) {
  Tensor x({2}, std::vector<float>{1, -3});
  expect_near(evaluated(choice(true).bytes(), {x}), {2, -6});
  expect_near(evaluated(choice(false).bytes(), {x}), {-1, 3});
  graph::Graph g = imported(choice(true).bytes());
  EXPECT_EQ(count_of(g, "negative"), 0u);
  EXPECT_TRUE(g.find("choice.then.Add_0").valid()) << "nodes of a subgraph stand under the node that has it";
}

// A branch that names an input that was refused is in order all the same.
TEST_F(OnnxControl, OpenSizesAreAllThatIsSaid) {
  OnnxModel m = choice(true);
  auto& sizes = *m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  sizes.mutable_dim(0)->clear_dim_value();
  EXPECT_EQ(refusal(m.bytes()), "ON021 input 'x': dimension 0 is not known\n  hint: give it a value, for example --dim x.0=1\n");
}

// The condition is an input of this shape.
OnnxModel choice_on_data(const std::vector<std::int64_t>& shape) {
  OnnxModel m = choice(true);
  m.graph().clear_initializer();
  m.input("cond", shape, TensorProto::BOOL);
  return m;
}

TEST_F(OnnxControl, OfBranchesOnDataOneIsSelected) {
  Tensor x({2}, std::vector<float>{1, -3});
  for (const auto& shape : {std::vector<std::int64_t>{}, {1}, {1, 1}}) {
    for (bool condition : {true, false}) {
      Tensor cond(Shape(shape), std::vector<Boolean>{Boolean{condition}});
      expect_near(evaluated(choice_on_data(shape).bytes(), {x, cond}), condition ? std::vector<float>{2, -6} : std::vector<float>{-1, 3});
    }
  }
}

// What would be infinite or NaN in the branch that is not taken does not reach the result.
TEST_F(OnnxControl, ABranchThatIsNotTakenLeavesNothing) {
  OnnxModel m = choice_on_data({});
  auto& otherwise = *m.graph().mutable_node(0)->mutable_attribute(1)->mutable_g();
  otherwise.mutable_node(0)->set_op_type("Log");
  Tensor x({2}, std::vector<float>{0, -3});
  expect_near(evaluated(m.bytes(), {x, Tensor::scalar(Boolean{1})}), {0, -6});
}

TEST_F(OnnxControl, BranchesOnDataMustAgreeInTheirTypes) {
  OnnxModel m = choice_on_data({});
  auto& otherwise = *m.graph().mutable_node(0)->mutable_attribute(1)->mutable_g();
  *otherwise.mutable_node(0) = {};
  otherwise.mutable_node(0)->set_op_type("Concat");
  for (const char* input : {"x", "x"}) otherwise.mutable_node(0)->add_input(input);
  otherwise.mutable_node(0)->add_output("e");
  OnnxNode(*otherwise.mutable_node(0)).integer("axis", 0);
  std::string text = refusal(m.bytes());
  EXPECT_NE(
      text.find("ON040 node 'choice' (op type If, domain ai.onnx, opset 13): its condition is computed at run time, and result 0 is F32 "
                "[2] of one branch and F32 [4] of the other"),
      std::string::npos)
      << text;
  EXPECT_NE(refusal(choice_on_data({2}).bytes()).find("its condition is BOOL [2]; a single boolean is needed"), std::string::npos);
}

// The cast at the end of the list comes first, and the branches of an If see what is computed behind it.
TEST_F(OnnxControl, NodesAreSorted) {
  OnnxModel m = choice(true);
  m.graph().mutable_input(0)->set_name("given");
  m.node("Neg", {"half"}, {"x"}).named("negated");
  m.node("Mul", {"given", "factor"}, {"half"}).named("scaled");
  m.scalar("factor", 0.5f);
  Tensor x({2}, std::vector<float>{1, -3});
  expect_near(evaluated(m.bytes(), {x}), {-1, 3});
  graph::Graph g = imported(m.bytes());
  EXPECT_TRUE(g.find("choice.then.Add_0").valid());
}

// s starts at x and grows by i + 1 in iteration i, for `trips` iterations or while s0 < limit; scan: all s.
OnnxModel sum_loop(std::int64_t trips) {
  OnnxModel m;
  m.input("x", {2});
  auto& count = *m.graph().add_initializer();
  count.set_name("trips");
  count.set_data_type(TensorProto::INT64);
  count.add_int64_data(trips);
  truth(m, "go", true);
  m.node("Loop", {"trips", "go", "x"}, {"last", "all"}).named("loop");
  auto& g = body(m, 0, "body");
  value(*g.mutable_input(), "i", TensorProto::INT64);
  value(*g.mutable_input(), "c", TensorProto::BOOL);
  value(*g.mutable_input(), "s");
  auto& cast = add(g, "Cast", {"i"}, {"f"});
  auto& to = *cast.add_attribute();
  to.set_name("to");
  to.set_type(AttributeProto::INT);
  to.set_i(TensorProto::FLOAT);
  auto& one = *g.add_initializer();
  one.set_name("one");
  one.set_data_type(TensorProto::FLOAT);
  one.add_float_data(1);
  add(g, "Add", {"f", "one"}, {"step"});
  add(g, "Add", {"s", "step"}, {"next"});
  add(g, "Identity", {"c"}, {"again"});
  add(g, "Identity", {"next"}, {"seen"});
  value(*g.mutable_output(), "again", TensorProto::BOOL);
  value(*g.mutable_output(), "next");
  value(*g.mutable_output(), "seen");
  g.mutable_output(2)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(2);
  return m;
}

TEST_F(OnnxControl, LoopsAreUnrolled) {
  Tensor x({2}, std::vector<float>{0, 10});
  OnnxModel last = sum_loop(3);
  last.output("last");
  expect_near(evaluated(last.bytes(), {x}), {6, 16});
  OnnxModel all = sum_loop(3);
  all.output("all");
  Shape shape;
  expect_near(evaluated(all.bytes(), {x}, &shape), {1, 11, 3, 13, 6, 16});
  EXPECT_EQ(shape, (Shape{3, 2}));
  OnnxModel none = sum_loop(0);
  none.output("last");
  expect_near(evaluated(none.bytes(), {x}), {0, 10});
}

TEST_F(OnnxControl, AConditionThatTurnsFalseEndsALoop) {
  OnnxModel m = sum_loop(100);
  m.output("last");
  // The next condition: i < 1, so two iterations run.
  auto& g = *m.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto& limit = *g.add_initializer();
  limit.set_name("limit");
  limit.set_data_type(TensorProto::INT64);
  limit.add_int64_data(1);
  auto& again = *g.mutable_node(3);
  again.set_op_type("Less");
  again.set_input(0, "i");
  again.add_input("limit");
  expect_near(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{0, 10})}), {3, 13});
}

TEST_F(OnnxControl, LoopsThatAreTooLongAreRefusedSoon) {
  OnnxModel m = sum_loop(std::int64_t{1} << 40);
  m.graph().mutable_node(0)->set_input(1, "");  // no condition
  m.output("last");
  EXPECT_NE(refusal(m.bytes()).find("it runs more than 65536 times"), std::string::npos);
}

TEST_F(OnnxControl, ScanRunsAlongAnAxisBothWays) {
  OnnxModel m;
  m.input("s0", {2}).input("xs", {3, 2});
  m.node("Scan", {"s0", "xs"}, {"last", "sums"})
      .integer("num_scan_inputs", 1)
      .integers("scan_input_directions", {1})
      .integers("scan_output_axes", {1});
  auto& g = body(m, 0, "body");
  value(*g.mutable_input(), "s");
  value(*g.mutable_input(), "x");
  add(g, "Add", {"s", "x"}, {"t"});
  add(g, "Identity", {"t"}, {"u"});
  value(*g.mutable_output(), "t");
  value(*g.mutable_output(), "u");
  m.output("sums");
  Shape shape;
  // From the end: 5 6, then 3 4, then 1 2; sums stand in columns.
  expect_near(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{0, 0}), Tensor({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6})}, &shape),
              {5, 8, 9, 6, 10, 12});
  EXPECT_EQ(shape, (Shape{2, 3}));
}

TEST_F(OnnxControl, FunctionsOfTheModel) {
  OnnxModel m(15);
  auto& opset = *m.proto().add_opset_import();
  opset.set_domain("mine");
  opset.set_version(1);
  auto& f = *m.proto().add_functions();
  f.set_name("Scaled");
  f.set_domain("mine");
  f.add_input("a");
  f.add_input("b");
  f.add_output("r");
  f.add_attribute("slope");
  auto& import = *f.add_opset_import();
  import.set_domain("");
  import.set_version(15);
  auto& leaky = *f.add_node();
  leaky.set_op_type("LeakyRelu");
  leaky.add_input("a");
  leaky.add_output("l");
  auto& alpha = *leaky.add_attribute();
  alpha.set_name("alpha");
  alpha.set_ref_attr_name("slope");
  alpha.set_type(AttributeProto::FLOAT);
  auto& clip = *f.add_node();
  clip.set_op_type("Clip");
  for (const char* i : {"l", "", "b"}) clip.add_input(i);
  clip.add_output("r");
  m.input("x", {2}).scalar("most", 2);
  m.node("Scaled", {"x", "most"}, {"t"}).domain("mine").real("slope", 0.5f).named("first");
  m.node("Scaled", {"t"}, {"y"}).domain("mine").named("second");  // without its second input and its attribute
  m.output("y");
  expect_near(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{-4, 7})}), {-0.02f, 2});
  EXPECT_TRUE(imported(m.bytes()).find("first.LeakyRelu_0").valid());
}

TEST_F(OnnxControl, AFunctionThatCallsItselfIsRefused) {
  OnnxModel m(15);
  auto& opset = *m.proto().add_opset_import();
  opset.set_domain("mine");
  opset.set_version(1);
  auto& f = *m.proto().add_functions();
  f.set_name("Again");
  f.set_domain("mine");
  f.add_input("a");
  f.add_output("b");
  auto& inner = *f.add_node();
  inner.set_op_type("Again");
  inner.set_domain("mine");
  inner.add_input("a");
  inner.add_output("b");
  m.input("x", {2}).node("Again", {"x"}, {"y"}).domain("mine");
  m.output("y");
  EXPECT_NE(refusal(m.bytes()).find("nested more than 32 deep"), std::string::npos);
}

TEST_F(OnnxControl, NodesOfFunctionsAreChecked) {
  OnnxModel m(15);
  auto& opset = *m.proto().add_opset_import();
  opset.set_domain("mine");
  opset.set_version(1);
  auto& f = *m.proto().add_functions();
  f.set_name("Bad");
  f.set_domain("mine");
  f.add_input("a");
  f.add_output("b");
  auto& inner = *f.add_node();
  inner.set_op_type("Add");
  inner.add_input("a");
  inner.add_output("b");
  m.input("x", {2}).node("Bad", {"x"}, {"y"}).domain("mine");
  m.output("y");
  EXPECT_NE(refusal(m.bytes()).find("ON031 node 'Add_0' (op type Add"), std::string::npos);
}

TEST_F(OnnxControl, FunctionsOfOnnx) {
  // The frontend has no importer for this one; ONNX's function depends on the types and attributes.
  OnnxModel m(13);
  m.input("x", {1, 2}).whole("t", {1}).node("SoftmaxCrossEntropyLoss", {"x", "t"}, {"y"}).text("reduction", "sum");
  m.output("y");
  expect_near(evaluated(m.bytes(), {Tensor({1, 2}, std::vector<float>{0, 0})}), {0.69314718f}, 1e-5);
}

TEST_F(OnnxControl, ArithmeticOnShapesLeavesNoTrace) {
  OnnxModel m;
  m.input("x", {2, 3, 4}).whole("first", {0}).whole("minus", {-1});
  m.node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "first"}, {"n"}).integer("axis", 0);
  m.node("Concat", {"n", "minus"}, {"to"}).integer("axis", 0);
  m.node("Mul", {"to", "to"}, {"unused"});
  m.node("Reshape", {"x", "to"}, {"y"}).named("flat");
  m.output("y");
  graph::Graph g = imported(m.bytes());
  EXPECT_EQ(g.node(g.find("flat")).outputs[0].shape, (Shape{2, 12}));
  EXPECT_EQ(count_of(g, "gather") + count_of(g, "concatenate"), 2u) << "only what 'unused' still uses may stay";
  m.graph().mutable_node()->DeleteSubrange(3, 1);
  g = imported(m.bytes());
  EXPECT_EQ(g.size(), 3u) << "input, reshape, output";
}

TEST_F(OnnxControl, ValuesGivenByTheUser) {
  OnnxModel m;
  m.input("x", {6}).input("shape", {2}, TensorProto::INT64).node("Reshape", {"x", "shape"}, {"y"});
  m.output("y");
  ASSERT_TRUE(fs_.write("dir/m.onnx", m.bytes()));
  ASSERT_TRUE(write_tensors(fs_, "shape.npy", {{"shape", Tensor({2}, std::vector<std::int64_t>{3, -1})}}));
  ASSERT_TRUE(write_tensors(fs_, "long.npy", {{"shape", Tensor({3}, std::vector<std::int64_t>{3, 2, 1})}}));
  auto run = [&](std::vector<std::string> values) {
    importer::Options options{.model = "dir/m.onnx", .output = "out/m.graph.json", .frontend = {}, .name = {}, .dims = {}};
    options.values = std::move(values);
    auto done = importer::run(options, host_);
    return done ? std::string() : text_of(done.failure());
  };
  EXPECT_EQ(run({"shape=shape.npy"}), "");
  EXPECT_NE(run({"shape=long.npy"}).find("ON021 input 'shape' has type I64 and shape [2]; the value given is I64 [3]"), std::string::npos);
  EXPECT_NE(run({"shap=shape.npy"}).find("did you mean 'shape'?"), std::string::npos);
  EXPECT_NE(run({"shape"}).find("expected NAME=FILE"), std::string::npos);
}

TEST_F(OnnxControl, SparseTensorsAreWrittenOut) {
  OnnxModel m;
  m.input("x", {2, 3}).node("Add", {"x", "w"}, {"y"});
  m.output("y");
  auto& sparse = *m.graph().add_sparse_initializer();
  sparse.add_dims(2);
  sparse.add_dims(3);
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(2);
  for (float v : {5.0f, 7.0f}) sparse.mutable_values()->add_float_data(v);
  sparse.mutable_indices()->set_data_type(TensorProto::INT64);
  for (int d : {2, 2}) sparse.mutable_indices()->add_dims(d);
  for (int i : {0, 1, 1, 2}) sparse.mutable_indices()->add_int64_data(i);
  sparse.mutable_indices()->set_int64_data(3, 3);
  EXPECT_NE(refusal(m.bytes()).find("whose element 1 lies outside"), std::string::npos);
  sparse.set_dims(0, std::int64_t{1} << 40);
  EXPECT_NE(refusal(m.bytes()).find("too large to be written out"), std::string::npos);
  sparse.set_dims(0, 2);
  sparse.mutable_indices()->set_int64_data(3, 2);
  Tensor zeros({2, 3}, std::vector<float>(6, 0));
  expect_near(evaluated(m.bytes(), {zeros}), {0, 5, 0, 0, 0, 7});
}

TEST_F(OnnxControl, WhatWillNeverBeReadSaysWhy) {
  EXPECT_NE(refusal(one_node("RandomNormalLike", {{2}}).bytes()).find("its result is random"), std::string::npos);
}

// ---- sequences

Tensor numbered(Shape shape) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  return Tensor(std::move(shape), std::move(v));
}

// x in parts of `size` rows, with the part at `from` put in at `to`, one beside the other.
OnnxModel moved_part(std::vector<std::int64_t> x, std::vector<std::int64_t> sizes, float from, float to) {
  OnnxModel m;
  m.input("x", x);
  m.whole("sizes", sizes).scalar("from", from).scalar("to", to);
  m.node("SplitToSequence", {"x", "sizes"}, {"s"}).integer("axis", 0);
  m.node("SequenceAt", {"s", "from"}, {"part"});
  m.node("SequenceInsert", {"s", "part", "to"}, {"more"});
  m.node("SequenceErase", {"more"}, {"less"});
  m.node("Identity", {"less"}, {"same"});
  m.node("ConcatFromSequence", {"same"}, {"y"}).integer("axis", 0);
  m.output("y");
  return m;
}

TEST_F(OnnxControl, SequencesLiveWhileImporting) {
  expect_near(evaluated(moved_part({3, 2}, {1, 2}, -1, 0).bytes(), {numbered({3, 2})}), {2, 3, 4, 5, 0, 1});
  expect_near(evaluated(moved_part({4, 1}, {2, 1, 1}, 1, -1).bytes(), {numbered({4, 1})}), {0, 1, 2, 2});
  expect_near(evaluated(moved_part({5}, {5}, 0, 1).bytes(), {numbered({5})}), {0, 1, 2, 3, 4});
}

TEST_F(OnnxControl, PlacesOutsideOfSequences) {
  EXPECT_NE(refusal(moved_part({3, 2}, {1, 2}, 2, 0).bytes()).find("its position 2 lies outside a sequence of 2"), std::string::npos);
  EXPECT_NE(refusal(moved_part({3, 2}, {1, 1}, 0, 0).bytes()).find("parts of sizes [1, 1] do not add up to an axis of size 3"),
            std::string::npos);
}

// Without sizes each row is an element, without its axis; stacked along another one they are the transpose.
TEST_F(OnnxControl, SequencesOfRows) {
  OnnxModel m;
  m.input("x", {3, 2});
  m.node("SplitToSequence", {"x"}, {"rows"}).integer("axis", 0).integer("keepdims", 0);
  m.node("ConcatFromSequence", {"rows"}, {"y"}).integer("axis", -1).integer("new_axis", 1);
  m.output("y");
  Shape shape;
  expect_near(evaluated(m.bytes(), {numbered({3, 2})}, &shape), {0, 2, 4, 1, 3, 5});
  EXPECT_EQ(shape, (Shape{2, 3}));
}

TEST_F(OnnxControl, ALoopAppendsToASequence) {
  OnnxModel m;
  m.input("x", {2});
  m.whole("trips", {3});
  truth(m, "go", true);
  m.node("SequenceEmpty", {}, {"none"});
  m.node("Loop", {"trips", "go", "x", "none"}, {"last", "all"}).named("loop");
  auto& g = body(m, 1, "body");
  value(*g.mutable_input(), "i", TensorProto::INT64);
  value(*g.mutable_input(), "c", TensorProto::BOOL);
  value(*g.mutable_input(), "s");
  g.add_input()->set_name("list");
  add(g, "Add", {"s", "s"}, {"next"});
  add(g, "SequenceInsert", {"list", "next"}, {"longer"});
  add(g, "Identity", {"c"}, {"again"});
  for (const char* name : {"again", "next", "longer"}) value(*g.mutable_output(), name);
  m.node("ConcatFromSequence", {"all"}, {"y"}).integer("axis", 0);
  m.output("y");
  expect_near(evaluated(m.bytes(), {Tensor({2}, std::vector<float>{1, -3})}), {2, -6, 4, -12, 8, -24});
}

TEST_F(OnnxControl, ASequenceIsNoTensor) {
  OnnxModel m;
  m.input("x", {3, 2});
  m.node("SplitToSequence", {"x"}, {"rows"}).integer("axis", 0);
  m.node("Relu", {"rows"}, {"y"}).named("relu");
  m.output("y");
  EXPECT_NE(refusal(m.bytes()).find("node 'relu' (op type Relu, domain ai.onnx, opset 13)"), std::string::npos);
  OnnxModel whole;
  whole.input("x", {3, 2});
  whole.node("SplitToSequence", {"x"}, {"rows"}).integer("axis", 0);
  whole.output("rows");
  EXPECT_NE(refusal(whole.bytes()).find("output 'rows' is a sequence of tensors; outputs must be tensors"), std::string::npos);
}

// ---- slices whose starts are computed at run time

// `size` elements along an axis from an input on, which is moved by `by`.
OnnxModel moving_slice(const std::vector<std::int64_t>& x, std::int64_t axis, std::int64_t size, std::int64_t by) {
  OnnxModel m;
  m.input("x", x).input("position", {}, TensorProto::INT64);
  m.whole("axes", {axis}).whole("first", {0}).whole("size", {size}).whole("by", {by});
  m.node("Unsqueeze", {"position", "first"}, {"at"});
  m.node("Add", {"at", "by"}, {"start"});
  m.node("Add", {"size", "start"}, {"end"});
  m.node("Slice", {"x", "start", "end", "axes"}, {"y"}).named("slice");
  m.output("y");
  return m;
}

TEST_F(OnnxControl, SlicesOfKnownSizesMayStartAnywhere) {
  Shape shape;
  expect_near(evaluated(moving_slice({5, 2}, 0, 2, 1).bytes(), {numbered({5, 2}), Tensor::scalar(std::int64_t{1})}, &shape), {4, 5, 6, 7});
  EXPECT_EQ(shape, (Shape{2, 2}));
  expect_near(evaluated(moving_slice({2, 3}, -1, 1, 0).bytes(), {numbered({2, 3}), Tensor::scalar(std::int64_t{2})}), {2, 5});
  expect_near(evaluated(moving_slice({7}, 0, 3, -2).bytes(), {numbered({7}), Tensor::scalar(std::int64_t{6})}), {4, 5, 6});
}

TEST_F(OnnxControl, SlicesOfUnknownSizesAreRefused) {
  OnnxModel m = moving_slice({5, 2}, 0, 2, 1);
  m.graph().mutable_node(2)->set_input(1, "at");
  m.graph().mutable_node(2)->set_input(0, "start");
  EXPECT_NE(refusal(m.bytes()).find(
                "node 'slice' (op type Slice, domain ai.onnx, opset 13): its starts (input 1, 'start') is computed at run time"),
            std::string::npos)
      << refusal(m.bytes());
}

}  // namespace
}  // namespace buda::test
