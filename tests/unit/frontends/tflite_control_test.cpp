// SPDX-License-Identifier: Apache-2.0
// Subgraphs that operators of TensorFlow Lite models call: conditions, loops, initial values of variables.
#include "tflite_fixture.hpp"

namespace buda::test {
namespace {

using ::testing::HasSubstr;
using tfl::BuiltinOperator;
using tfl::TensorType;

class TfliteControl : public Tflite {
 protected:
  // What follows is built in a new subgraph, whose number is returned.
  static int begin_subgraph(TfliteModel& m) {
    m.model().subgraphs.push_back(std::make_unique<tfl::SubGraphT>());
    return static_cast<int>(m.model().subgraphs.size()) - 1;
  }

  // y = 2 x + 1, and a second branch y = -x.
  static TfliteModel two_branches(bool condition_known) {
    TfliteModel m;
    int x = m.input("x", {2});
    int condition = condition_known ? m.bytes_constant("condition", {}, TensorType::BOOL, {1}) : m.input("condition", {}, TensorType::BOOL);
    int y = m.tensor("y", {2});
    tfl::IfOptionsT options;
    options.then_subgraph_index = 1;
    options.else_subgraph_index = 2;
    m.op(BuiltinOperator::IF, {condition, x}, {y}, options);
    m.output(y);
    begin_subgraph(m);
    m.select_subgraph(1);
    int a = m.input("a", {2}), two = m.constant("two", {}, std::vector<float>{2}), one = m.constant("one", {}, std::vector<float>{1});
    int twice = m.tensor("twice", {2}), more = m.tensor("more", {2});
    m.op(BuiltinOperator::MUL, {a, two}, {twice}, tfl::MulOptionsT());
    m.op(BuiltinOperator::ADD, {twice, one}, {more}, tfl::AddOptionsT());
    m.output(more);
    begin_subgraph(m);
    m.select_subgraph(2);
    int b = m.input("b", {2}), less = m.tensor("less", {2});
    m.op(BuiltinOperator::NEG, {b}, {less});
    m.output(less);
    m.select_subgraph(0);
    return m;
  }

  // Adds `step` to x until a counter has reached 3.
  static TfliteModel loop() {
    TfliteModel m;
    int x = m.input("x", {2}), zero = m.constant("zero", {}, std::vector<std::int32_t>{0});
    int n = m.tensor("n", {}, TensorType::INT32), y = m.tensor("y", {2});
    tfl::WhileOptionsT options;
    options.cond_subgraph_index = 1;
    options.body_subgraph_index = 2;
    m.op(BuiltinOperator::WHILE, {zero, x}, {n, y}, options);
    m.output(y);
    begin_subgraph(m);
    m.select_subgraph(1);
    int i = m.input("i", {}, TensorType::INT32);
    m.input("of_condition", {2});
    int end = m.constant("end", {}, std::vector<std::int32_t>{3}), goes_on = m.tensor("goes_on", {}, TensorType::BOOL);
    m.op(BuiltinOperator::LESS, {i, end}, {goes_on});
    m.output(goes_on);
    begin_subgraph(m);
    m.select_subgraph(2);
    int j = m.input("j", {}, TensorType::INT32), a = m.input("a", {2});
    int one = m.constant("one", {}, std::vector<std::int32_t>{1}), step = m.constant("step", {2}, std::vector<float>{0.5f, -1});
    int k = m.tensor("k", {}, TensorType::INT32), sum = m.tensor("sum", {2});
    m.op(BuiltinOperator::ADD, {j, one}, {k}, tfl::AddOptionsT());
    m.op(BuiltinOperator::ADD, {a, step}, {sum}, tfl::AddOptionsT());
    m.output(k);
    m.output(sum);
    m.select_subgraph(0);
    return m;
  }

  // The initialisation assigns 7 to a variable that the model multiplies with; `assigns`: and then changes.
  static TfliteModel with_variable(bool assigns) {
    TfliteModel m;
    auto handle = [&](const std::string& name) {
      int out = m.tensor(name, {}, TensorType::RESOURCE);
      tfl::VarHandleOptionsT options;
      options.shared_name = "v";
      m.op(BuiltinOperator::VAR_HANDLE, {}, {out}, options);
      return out;
    };
    int x = m.input("x", {2}), v = m.tensor("v", {}), y = m.tensor("y", {2});
    tfl::CallOnceOptionsT once;
    once.init_subgraph_index = 1;
    m.op(BuiltinOperator::CALL_ONCE, {}, {}, once);
    int read = handle("read");
    m.op(BuiltinOperator::READ_VARIABLE, {read}, {v});
    m.op(BuiltinOperator::MUL, {x, v}, {y}, tfl::MulOptionsT());
    if (assigns) m.op(BuiltinOperator::ASSIGN_VARIABLE, {read, y}, {});
    m.output(y);
    begin_subgraph(m);
    m.select_subgraph(1);
    int seven = m.constant("seven", {}, std::vector<float>{7}), written = handle("written");
    m.op(BuiltinOperator::ASSIGN_VARIABLE, {written, seven}, {});
    m.select_subgraph(0);
    return m;
  }

  const Tensor x_ = Tensor({2}, std::vector<float>{3, -4});
};

TEST_F(TfliteControl, OneBranchOfACondition) { expect_near(run(two_branches(true), {x_}).to_f32(), {7, -7}); }

TEST_F(TfliteControl, OfBranchesOnDataOneIsSelected) {
  for (bool condition : {true, false})
    expect_near(run(two_branches(false), {x_, Tensor::scalar(Boolean{condition})}).to_f32(),
                condition ? std::vector<float>{2 * x_.to_f32()[0] + 1, 2 * x_.to_f32()[1] + 1}
                          : std::vector<float>{-x_.to_f32()[0], -x_.to_f32()[1]});
}

TEST_F(TfliteControl, BranchesOnDataMustAgreeInTheirTypes) {
  TfliteModel m = two_branches(false);
  m.select_subgraph(2);
  int twice = m.tensor("longer", {4});
  m.op(BuiltinOperator::CONCATENATION, {0, 0}, {twice}, tfl::ConcatenationOptionsT());
  m.model().subgraphs[2]->outputs = {twice};
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("result 0 is F32 [2] of one branch and F32 [4] of the other"));
}

TEST_F(TfliteControl, LoopRunsAsOftenAsItsConditionSays) {
  expect_near(run(loop(), {x_}).to_f32(), {4.5f, -7});
  graph::Graph graph = imported(loop().bytes());
  int additions = 0;
  for (auto id : graph.ids()) additions += graph.node(id).op() == "add" ? 1 : 0;
  EXPECT_EQ(additions, 3);  // the counter leaves no trace
  EXPECT_TRUE(graph.find("n/2/sum").valid());
}

TEST_F(TfliteControl, LoopWithoutAnEndIsRefused) {
  TfliteModel m = loop();
  // The condition compares the counter with a number below it.
  m.model().subgraphs[1]->operators[0]->inputs = {2, 0};
  m.model().buffers[m.model().subgraphs[1]->tensors[2]->buffer]->data = {0xff, 0xff, 0xff, 0xff};
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("which is the limit"));
}

TEST_F(TfliteControl, SubgraphsThatCallThemselves) {
  TfliteModel m = two_branches(true);
  m.select_subgraph(1);
  tfl::IfOptionsT options;
  options.then_subgraph_index = 1;
  options.else_subgraph_index = 2;
  m.op(BuiltinOperator::IF, {1, 0}, {m.tensor("again", {2})}, options);
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("calls subgraph 1, which calls it: this has no end"));
}

TEST_F(TfliteControl, SubgraphsThatDoNotExistOrTakeOtherValues) {
  TfliteModel m = two_branches(true);
  m.graph().operators[0]->builtin_options.AsIfOptions()->else_subgraph_index = 9;
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("TF002 operator 0 names subgraph 9; there are 3"));
  m = two_branches(true);
  m.graph().operators[0]->inputs.push_back(0);
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("gives subgraph 1 2 values; it takes 1"));
}

TEST_F(TfliteControl, OperatorsOfSubgraphsAreCheckedToo) {
  TfliteModel m = two_branches(true);
  m.select_subgraph(2);
  m.op(BuiltinOperator::SEGMENT_SUM, {0}, {m.tensor("f", {2})});
  EXPECT_THAT(refusal(m.bytes()), HasSubstr("op type SEGMENT_SUM (version 1): not read yet"));
}

TEST_F(TfliteControl, VariablesBeginWithWhatTheInitialisationAssigns) { expect_near(run(with_variable(false), {x_}).to_f32(), {21, -28}); }

TEST_F(TfliteControl, VariablesThatTheModelAssigns) {
  std::string said = refusal(with_variable(true).bytes());
  EXPECT_THAT(said, HasSubstr("assigns the variable '/v', which would keep its value until the next run; that is not supported"));
  EXPECT_THAT(said, HasSubstr("hint: --set frontend.tflite.state=initial"));
  set_option("state", "initial");
  expect_near(run(with_variable(true), {x_}).to_f32(), {21, -28});
}

}  // namespace
}  // namespace buda::test
