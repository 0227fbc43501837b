// SPDX-License-Identifier: Apache-2.0
// From text to operations on values: functions are put in where they are called, and conditions become flags.
#include <buda/sfpu/operations.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace buda::sfpu {
namespace {

using numerics::VectorOp;
using Kind = Expression::Kind;

constexpr std::size_t kDeepestCall = 16;      // of calls
constexpr std::size_t kMaxOperations = 4096;  // so that no text makes a program without end

// How an intrinsic function is one instruction.
struct Intrinsic {
  std::string_view name;
  VectorOp op;
  std::uint8_t mod;
  enum Form : std::uint8_t { unary, changes_second, immediate } form;  // d = f(c); d = f(c, d); d = f(c, an integer)
};
constexpr Intrinsic kIntrinsics[] = {
    {"exponent", VectorOp::exponent, 1, Intrinsic::unary},
    {"fraction", VectorOp::fraction, 1, Intrinsic::unary},
    {"bit_not", VectorOp::bit_not, 0, Intrinsic::unary},
    {"float_of", VectorOp::float_of, 0, Intrinsic::unary},
    {"integer_add", VectorOp::integer_add, 4, Intrinsic::changes_second},
    {"integer_subtract", VectorOp::integer_add, 6, Intrinsic::changes_second},
    {"bit_and", VectorOp::bit_and, 0, Intrinsic::changes_second},
    {"bit_or", VectorOp::bit_or, 0, Intrinsic::changes_second},
    {"bit_xor", VectorOp::bit_xor, 0, Intrinsic::changes_second},
    {"with_exponent", VectorOp::with_exponent, 0, Intrinsic::changes_second},
    {"with_sign", VectorOp::with_sign, 0, Intrinsic::changes_second},
    {"round_to_integer", VectorOp::round, 3, Intrinsic::unary},
};
constexpr std::string_view kOtherIntrinsics[] = {"mad",     "magnitude", "minus_magnitude", "shift_left", "shift_right",
                                                 "smaller", "larger",    "polynomial",      "random"};

struct Value {
  ValueId id = kNoValue;
  bool temporary = false;  // no name has it
};

struct Binding {
  ValueId id = kNoValue;
  std::size_t depth = 0;  // of conditions
  bool is_parameter = false;
};
using Scope = std::map<std::string, Binding, std::less<>>;

struct Call {
  const Function& function;
  const Constants& constants;
  std::vector<Scope> scopes;
};

class Lowering {  // wide because it has a function for each construct of the language
 public:
  explicit Lowering(const Library& library) : library_(library) {}

  Result<Operations> run(const Function& function, const Constants& constants) {
    out_.file = function.file;
    Call call{function, constants, {{}}};
    for (const Parameter& p : function.parameters) {
      if (p.is_constant) continue;
      call.scopes.back()[p.name] = {fresh(), 0, true};
      ++out_.parameters;
    }
    BUDA_ASSIGN(const Value result, body(call));
    out_.result = result.id;
    return std::move(out_);
  }

 private:
  ValueId fresh() { return out_.values++; }
  Diagnostic wrong(const Call& call, std::uint32_t line, std::string what) const {
    return input_error("SF002", {call.function.file, line}, std::move(what));
  }
  Operation& emit(VectorOp op, std::uint8_t mod, std::uint32_t line) {
    out_.list.push_back({});
    Operation& o = out_.list.back();
    o.instruction.op = op;
    o.instruction.mod = mod;
    o.line = line;
    return o;
  }

  Result<Value> body(Call& call) {
    const auto& statements = call.function.body;
    for (const Statement& s : statements) {
      if (s.kind != Statement::Kind::give) {
        BUDA_TRY(statement(call, s));
        continue;
      }
      if (&s != &statements.back()) return wrong(call, s.line, "'return' ends a function, and is not its last statement");
      return expression(call, s.value);
    }
    return wrong(call, call.function.line, cat("function '", call.function.name, "' does not end with 'return'"));
  }

  Result<void> statement(Call& call, const Statement& s) {
    if (out_.list.size() > kMaxOperations) return wrong(call, s.line, "the program is too long");
    switch (s.kind) {
      case Statement::Kind::assign:
        return assign(call, s);
      case Statement::Kind::conditional:
        return conditional(call, s);
      case Statement::Kind::give:
        break;
    }
    return wrong(call, s.line, "'return' stands inside a condition");
  }

  Result<void> statements(Call& call, const std::vector<Statement>& list) {
    call.scopes.emplace_back();
    ++depth_;
    for (const Statement& s : list) BUDA_TRY(statement(call, s));
    --depth_;
    call.scopes.pop_back();
    return success();
  }

  Result<void> conditional(Call& call, const Statement& s) {
    if (depth_ == numerics::kFlagDepth) return wrong(call, s.line, cat("conditions are nested more than ", numerics::kFlagDepth, " deep"));
    emit(VectorOp::push_flags, 0, s.line);
    for (const Condition& c : s.conditions) {
      BUDA_ASSIGN(const Value v, expression(call, c.value));
      constexpr std::uint8_t kModes[] = {0, 2, 4, 6};
      emit(VectorOp::test, kModes[static_cast<std::size_t>(c.comparison)], s.line).c = v.id;
    }
    BUDA_TRY(statements(call, s.then));
    if (!s.otherwise.empty()) {
      emit(VectorOp::invert_flags, 0, s.line);
      BUDA_TRY(statements(call, s.otherwise));
    }
    emit(VectorOp::pop_flags, 0, s.line);
    return success();
  }

  static Binding* find(Call& call, std::string_view name) {
    for (auto scope = call.scopes.rbegin(); scope != call.scopes.rend(); ++scope)
      if (const auto it = scope->find(name); it != scope->end()) return &it->second;
    return nullptr;
  }

  Result<void> assign(Call& call, const Statement& s) {
    const std::size_t begin = out_.list.size();
    BUDA_ASSIGN(Value v, expression(call, s.value));
    Binding* binding = find(call, s.name);
    if (binding != nullptr && binding->is_parameter)
      return wrong(call, s.line, cat("'", s.name, "' is a parameter, and cannot be changed"));
    if (binding != nullptr && binding->depth < depth_) {
      if (!retarget(begin, v, binding->id)) {
        Operation& o = emit(VectorOp::move, 0, s.line);
        o.d = binding->id;
        o.c = v.id;
        o.reads_d = true;
      }
      return success();
    }
    if (!v.temporary) {
      Operation& o = emit(VectorOp::move, 0, s.line);
      o.c = v.id;
      v.id = o.d = fresh();
    }
    if (binding != nullptr) {
      binding->id = v.id;
    } else {
      call.scopes.back()[s.name] = {v.id, depth_, false};
    }
    return success();
  }

  // Lets the operations from `begin` on make their value in place of another one, in some lanes. False where they need that one, too.
  bool retarget(std::size_t begin, Value v, ValueId to) {
    if (!v.temporary) return false;
    auto first = out_.list.begin() + static_cast<std::ptrdiff_t>(begin);
    while (first != out_.list.end() && first->d != v.id) ++first;
    if (first == out_.list.end() || first->reads_d) return false;
    const auto reads = [to](const Operation& o) { return o.d == to || o.c == to || o.b == to || o.a == to; };
    if (std::any_of(first + 1, out_.list.end(), reads)) return false;
    for (auto o = first; o != out_.list.end(); ++o)
      for (ValueId* id : {&o->d, &o->c, &o->b, &o->a})
        if (*id == v.id) *id = to;
    return true;
  }

  Value constant(std::uint32_t bits, std::uint32_t line) {
    if (bits == 0) return {kZero, false};
    if (bits == 0x3f800000u) return {kOne, false};
    if (bits == 0xbf800000u) return {kMinusOne, false};
    const ValueId id = fresh();
    const auto half = [&](std::uint8_t mod, std::uint32_t value, bool reads) {
      Operation& o = emit(VectorOp::load_immediate, mod, line);
      o.d = id;
      o.instruction.immediate = static_cast<std::int32_t>(value);
      o.reads_d = reads;
    };
    if ((bits & 0xffffu) == 0) {
      half(0, bits >> 16, false);
    } else if (bits <= 0xffffu) {
      half(2, bits, false);
    } else {
      half(0, bits >> 16, false);
      half(10, bits & 0xffffu, true);
    }
    return {id, true};
  }

  Result<Value> expression(Call& call, const Expression& e) {
    if (e.kind == Kind::real || e.kind == Kind::integer) return constant(e.bits, e.line);
    if (e.kind == Kind::call) return called(call, e);
    if (const Binding* binding = find(call, e.name)) return Value{binding->id, false};
    if (const auto it = call.constants.find(e.name); it != call.constants.end()) return constant(it->second, e.line);
    std::vector<std::string> known;
    for (const Scope& scope : call.scopes)
      for (const auto& [name, binding] : scope) known.push_back(name);
    return wrong(call, e.line, guessed(cat("'", e.name, "' is not known here"), e.name, known));
  }

  static std::string guessed(std::string sentence, std::string_view word, const std::vector<std::string>& known) {
    if (auto near = nearest_word(word, known)) sentence += cat("; did you mean '", *near, "'?");
    return sentence;
  }

  // A value that may be changed: the temporary itself, or a copy.
  ValueId changeable(Value v, std::uint32_t line) {
    if (v.temporary) return v.id;
    Operation& o = emit(VectorOp::move, 0, line);
    o.c = v.id;
    return o.d = fresh();
  }

  Value mad(Value a, Value b, Value c, std::uint32_t line) {
    Operation& o = emit(VectorOp::mad, 0, line);
    o.a = a.id;
    o.b = b.id;
    o.c = c.id;
    return {o.d = fresh(), true};
  }

  Result<Value> called(Call& call, const Expression& e) {
    if (e.name == "+" || e.name == "-" || e.name == "*") return arithmetic(call, e);
    for (const Intrinsic& i : kIntrinsics)
      if (e.name == i.name) return intrinsic(call, e, i);
    if (std::find(std::begin(kOtherIntrinsics), std::end(kOtherIntrinsics), e.name) != std::end(kOtherIntrinsics))
      return other_intrinsic(call, e);
    const auto it = library_.find(e.name);
    if (it != library_.end()) return inlined(call, e, it->second);
    std::vector<std::string> known;
    for (const auto& [name, function] : library_) known.push_back(name);
    for (const Intrinsic& i : kIntrinsics) known.emplace_back(i.name);
    for (std::string_view name : kOtherIntrinsics) known.emplace_back(name);
    return wrong(call, e.line, guessed(cat("there is no function '", e.name, "'"), e.name, known));
  }

  Result<Value> arithmetic(Call& call, const Expression& e) {
    for (const Expression& o : e.operands)
      if (o.kind == Kind::integer)
        return wrong(call, e.line, cat("an operand of ", e.name, " is an integer; floats have a point, as in 2.0"));
    BUDA_ASSIGN(const Value a, expression(call, e.operands[0]));
    if (e.operands.size() == 1) {
      Operation& o = emit(VectorOp::move, 1, e.line);
      o.c = a.id;
      return Value{o.d = fresh(), true};
    }
    BUDA_ASSIGN(const Value b, expression(call, e.operands[1]));
    if (e.name == "*") return mad(a, b, {kZero, false}, e.line);
    if (e.name == "+") return mad(a, {kOne, false}, b, e.line);
    return mad(b, {kMinusOne, false}, a, e.line);
  }

  Result<void> need(const Call& call, const Expression& e, std::size_t count) const {
    if (e.operands.size() == count) return success();
    return wrong(call, e.line, cat("'", e.name, "' takes ", count, " operands, not ", e.operands.size()));
  }

  static std::optional<std::int32_t> small_integer(const Expression& e, std::int32_t low, std::int32_t high) {
    const auto value = static_cast<std::int32_t>(e.bits);
    if (e.kind != Kind::integer || value < low || value > high) return std::nullopt;
    return value;
  }

  Result<Value> intrinsic(Call& call, const Expression& e, const Intrinsic& i) {
    BUDA_TRY(need(call, e, i.form == Intrinsic::unary ? 1 : 2));
    BUDA_ASSIGN(const Value c, expression(call, e.operands[0]));
    if (i.form == Intrinsic::unary) return simple(i.op, i.mod, c, 0, e.line);
    if (i.op == VectorOp::integer_add && i.mod == 4)
      if (const auto n = small_integer(e.operands[1], -2048, 2047)) return simple(i.op, 5, c, *n, e.line);
    if (i.op == VectorOp::with_exponent)
      if (const auto n = small_integer(e.operands[1], 0, 255)) return simple(i.op, 1, c, *n, e.line);
    BUDA_ASSIGN(const Value second, expression(call, e.operands[1]));
    const ValueId d = changeable(second, e.line);
    Operation& o = emit(i.op, i.mod, e.line);
    o.c = c.id;
    o.d = d;
    o.reads_d = true;
    return Value{d, true};
  }

  Value simple(VectorOp op, std::uint8_t mod, Value c, std::int32_t immediate, std::uint32_t line) {
    Operation& o = emit(op, mod, line);
    o.c = c.id;
    o.instruction.immediate = immediate;
    return {o.d = fresh(), true};
  }

  Result<Value> other_intrinsic(Call& call, const Expression& e) {
    if (e.name == "random") {
      BUDA_TRY(need(call, e, 0));
      return simple(VectorOp::move, 8, {kZero, false}, 0, e.line);
    }
    if (e.name == "magnitude" || e.name == "minus_magnitude") {
      BUDA_TRY(need(call, e, 1));
      BUDA_ASSIGN(const Value c, expression(call, e.operands[0]));
      return simple(VectorOp::with_sign, 1, c, e.name == "magnitude" ? 0 : 1, e.line);
    }
    if (e.name == "mad") {
      BUDA_TRY(need(call, e, 3));
      BUDA_ASSIGN(const Value a, expression(call, e.operands[0]));
      BUDA_ASSIGN(const Value b, expression(call, e.operands[1]));
      BUDA_ASSIGN(const Value c, expression(call, e.operands[2]));
      return mad(a, b, c, e.line);
    }
    if (e.name == "polynomial") return polynomial(call, e);
    BUDA_TRY(need(call, e, 2));
    BUDA_ASSIGN(const Value first, expression(call, e.operands[0]));
    if (e.name == "shift_left" || e.name == "shift_right") {
      const auto n = small_integer(e.operands[1], 0, 31);
      if (!n) return wrong(call, e.line, cat("'", e.name, "' takes a number of bits, 0 to 31"));
      const ValueId d = changeable(first, e.line);
      Operation& o = emit(VectorOp::shift, 1, e.line);
      o.d = d;
      o.reads_d = true;
      o.instruction.immediate = e.name == "shift_left" ? *n : -*n;
      return Value{d, true};
    }
    BUDA_ASSIGN(const Value second, expression(call, e.operands[1]));
    // Both are changed: the smaller one comes first.
    const ValueId d = changeable(first, e.line), c = changeable(second, e.line);
    Operation& o = emit(VectorOp::sort, 1, e.line);
    o.d = d;
    o.c = c;
    o.reads_d = true;
    return Value{e.name == "smaller" ? d : c, true};
  }

  // By Horner's scheme; the coefficients begin with that of the highest power.
  Result<Value> polynomial(Call& call, const Expression& e) {
    if (e.operands.size() < 3) return wrong(call, e.line, "'polynomial' takes a variable and at least two coefficients");
    BUDA_ASSIGN(const Value x, expression(call, e.operands[0]));
    BUDA_ASSIGN(Value sum, expression(call, e.operands[1]));
    for (std::size_t i = 2; i < e.operands.size(); ++i) {
      BUDA_ASSIGN(const Value next, expression(call, e.operands[i]));
      sum = mad(sum, x, next, e.line);
    }
    return sum;
  }

  Result<Value> inlined(Call& call, const Expression& e, const Function& function) {
    BUDA_TRY(need(call, e, function.parameters.size()));
    if (calls_ == kDeepestCall) return wrong(call, e.line, cat("calls of '", e.name, "' are nested more than ", kDeepestCall, " deep"));
    if (out_.list.size() > kMaxOperations) return wrong(call, e.line, "the program is too long");
    Constants constants;
    Call inner{function, constants, {{}}};
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      const Parameter& p = function.parameters[i];
      const Expression& operand = e.operands[i];
      if (!p.is_constant) {
        BUDA_ASSIGN(const Value v, expression(call, operand));
        inner.scopes.back()[p.name] = {v.id, depth_, true};
        continue;
      }
      const auto named = operand.kind == Kind::name ? call.constants.find(operand.name) : call.constants.end();
      if (operand.kind != Kind::real && operand.kind != Kind::integer && named == call.constants.end())
        return wrong(call, e.line, cat("'", p.name, "' of '", e.name, "' is a constant, and needs a number"));
      constants[p.name] = named != call.constants.end() ? named->second : operand.bits;
    }
    ++calls_;
    auto result = body(inner);
    --calls_;
    if (!result) return result;
    // What a function gives back has no name any more, unless it is one of its operands or a constant register.
    const bool own = result->id >= kFirstValue && !is_operand(inner, result->id);
    return Value{result->id, own};
  }
  static bool is_operand(const Call& call, ValueId id) {
    return std::any_of(call.scopes.front().begin(), call.scopes.front().end(),
                       [id](const auto& entry) { return entry.second.is_parameter && entry.second.id == id; });
  }

  const Library& library_;
  Operations out_;
  std::size_t depth_ = 0, calls_ = 0;
};

}  // namespace

Result<Operations> lower(const Library& library, const Function& function, const Constants& constants) {
  return Lowering(library).run(function, constants);
}

Result<void> add(Library& library, std::vector<Function> functions) {
  for (Function& f : functions) {
    const std::string name = f.name;
    const SourceLoc here{f.file, f.line};
    if (!library.emplace(name, std::move(f)).second) return input_error("SF002", here, cat("there is a function '", name, "' already"));
  }
  return success();
}

Result<Program> compile(const Library& library, std::string_view function, const Constants& constants) {
  const auto it = library.find(function);
  if (it == library.end()) return input_error("SF002", {}, cat("there is no function '", function, "'"));
  for (const Parameter& p : it->second.parameters)
    if (p.is_constant && constants.find(p.name) == constants.end())
      return input_error("SF002", {it->second.file, it->second.line},
                         cat("'", function, "' needs a value for its constant '", p.name, "'"));
  BUDA_ASSIGN(const Operations operations, lower(library, it->second, constants));
  return allocate(operations);
}

}  // namespace buda::sfpu
