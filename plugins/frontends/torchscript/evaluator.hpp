// SPDX-License-Identifier: Apache-2.0
// Running a program with tensors that are values of a graph.
#pragma once

#include "call.hpp"
#include "load.hpp"

#include <set>

namespace buda::torchscript {

// Calls of modules are gone through (inlined), conditions must be known, and loops are run; what remains are the calls of operators, which
// become nodes. An operator that cannot be read gives Failed, and so does what depends on it, so that all of them are found in one run.
class Evaluator {  // wide because it has a function for each form of statement and expression
 public:
  Evaluator(const Program& program, Loaded& loaded, ImportState& state) : program_(program), loaded_(loaded), state_(state) {}

  // A method of an object. Errors of operators are in `state`; others, after which nothing can be told of the rest, are returned.
  Result<Value> run(Object& object, const std::string& method, std::vector<Value> arguments);

 private:
  // Expressions and calls within each other: each takes some of the stack.
  static constexpr int kDeepestCall = 500;

  enum class Flow : std::uint8_t { on, back };
  struct Frame {
    const Function* function;
    Place place;
    std::map<std::string, Value> names;
    Value given_back = Nothing{};
    bool defines_operator = false;  // its nodes stand where the operator is called
  };
  struct Arguments {
    std::vector<Value> given;
    std::vector<std::pair<std::string, Value>> named;
  };

  Result<Value> invoke(const Function& function, Arguments arguments, std::string_view defines = {});
  Result<Value> call_definition(const Function& definition, std::string_view name, Arguments arguments);
  Result<Flow> run_block(const std::vector<Statement>& block);
  Result<Flow> run_statement(const Statement& s);
  Result<Flow> run_loop(const Statement& s);
  Result<Flow> run_repetition(const Statement& s);
  Result<void> assign(const Expr& target, Value value);
  Result<void> assign_field(const Expr& target, Value value);
  Result<bool> condition(const Expr& e);
  Result<bool> truth(const Value& value, std::string_view op);

  Result<Value> evaluate(const Expr& e);
  Result<Value> literal(const Expr& e);
  Result<Value> name(const Expr& e);
  Result<Value> attribute(const Expr& e);
  Result<Value> field(const Value& of, const std::string& name);
  Result<Value> subscript(const Expr& e);
  Result<Value> binary(const Expr& e);
  Result<Value> unary(const Expr& e);
  Result<Value> evaluate_call(const Expr& e);
  Result<Value> built_in(const std::string& name, const Expr& e);
  Result<Value> call_named(const std::string& name, Arguments arguments);
  Result<Value> call_method(const Value& of, const std::string& method, Arguments arguments);
  Result<Value> construct(const Class& type, Arguments arguments);
  Result<Value> call_operator(const std::string& op, Arguments arguments);
  // What operators are on complex numbers, in operators on their parts (complex.cpp). Nothing for those that are not defined so.
  Result<std::optional<Value>> call_complex(std::string_view name, const Arguments& arguments);
  Result<Value> of_both_parts(std::string_view name, const Arguments& arguments);
  Result<Value> complex_arithmetic(std::string_view name, const Value& a, const Value& b);
  Result<Value> complex_function(std::string_view name, const Value& of);
  Result<Value> complex_power(const Value& of, int exponent);
  Result<Value> real_operator(std::string_view name, std::vector<Value> arguments);
  Result<Value> import_call(Call& call, const OpImporter& importer, Arguments& arguments);
  void report_unsupported(const std::string& op);
  void finish_nodes(std::size_t first_new, const Call& call);
  Result<Value> change_in_place(Call& call, const Cell& target, Value result);
  Result<Arguments> arguments_of(const Expr& call);
  bool is_instance(const Value& value, const Expr& type) const;

  Diagnostic error(std::string_view code, std::string_view message) const;
  Result<void> spend();

  const Program& program_;
  Loaded& loaded_;
  ImportState& state_;
  Frame* frame_ = nullptr;
  std::deque<Object> made_;  // by the program itself
  std::set<const Object*> own_;
  int depth_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace buda::torchscript
