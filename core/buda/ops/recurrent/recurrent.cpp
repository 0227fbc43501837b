// SPDX-License-Identifier: Apache-2.0
// Recurrent networks over a sequence: rnn, lstm and gru, with the equations and the order of gates that ONNX gives them.
//
// For each direction one product brings all steps' inputs through the input weights; then step follows step, each with a product of the
// state with the recurrent weights. A sequence that is shorter than the longest one leaves its state alone when it has ended, and its
// results are zeros from there on; backwards it begins at its own end.
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/linear_algebra/gemm.hpp>
#include <buda/ops/recurrent/activation_function.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

enum class CellKind { rnn, lstm, gru };

constexpr std::int64_t gates_of(CellKind kind) { return kind == CellKind::rnn ? 1 : kind == CellKind::lstm ? 4 : 3; }
constexpr std::size_t functions_of(CellKind kind) { return kind == CellKind::rnn ? 1 : kind == CellKind::lstm ? 3 : 2; }
constexpr std::int64_t kPeepholes = 3;

enum Input : std::size_t { kX, kW, kR, kB, kLengths, kH, kC, kP };
constexpr std::string_view kInputNames[] = {"x", "w", "r", "b", "lengths", "h", "c", "p"};

struct Sizes {
  std::int64_t steps = 0, batch = 0, input = 0, directions = 1, hidden = 0;
};

template <CellKind kKind>
Result<Sizes> sizes_of(std::span<const ValueType> in, const Attrs& attrs) {
  if (in[kX].shape.rank() != 3 || in[kR].shape.rank() != 3)
    return shape_error(cat("x is ", in[kX].shape.text(), " and r ", in[kR].shape.text(), "; both need three axes"));
  Sizes s{in[kX].shape[0], in[kX].shape[1], in[kX].shape[2], attrs.text("direction") == "bidirectional" ? 2 : 1, in[kR].shape[2]};
  if (s.hidden > std::int64_t{1} << 40) return shape_error(cat("a state of ", s.hidden, " numbers is impossible"));
  std::int64_t g = gates_of(kKind) * s.hidden;
  const Shape wanted[] = {
      in[kX].shape, {s.directions, g, s.input},        {s.directions, g, s.hidden},       {s.directions, 2 * g},
      {s.batch},    {s.directions, s.batch, s.hidden}, {s.directions, s.batch, s.hidden}, {s.directions, kPeepholes * s.hidden}};
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i].shape != wanted[i])
      return shape_error(cat("the input '", kInputNames[i], "' is ", in[i].shape.text(), " where ", wanted[i].text(), " is needed"));
  return s;
}

Result<std::vector<ActivationFunction>> functions(const Attrs& attrs, CellKind kind, std::int64_t directions) {
  std::vector<std::string> names = attrs.texts("activations");
  std::size_t count = functions_of(kind) * static_cast<std::size_t>(directions);
  if (names.empty())
    for (std::size_t i = 0; i < count; ++i) names.emplace_back(kind != CellKind::rnn && i % functions_of(kind) == 0 ? "sigmoid" : "tanh");
  auto alphas = attrs.reals("alpha"), betas = attrs.reals("beta");
  if (names.size() != count || (!alphas.empty() && alphas.size() != count) || (!betas.empty() && betas.size() != count))
    return shape_error(cat("'activations', 'alpha' and 'beta' need ", count, " entries, or none"));
  std::vector<ActivationFunction> out;
  for (std::size_t i = 0; i < count; ++i) {
    auto f = find_activation(names[i]);
    if (!f) return shape_error(cat("there is no activation '", names[i], "'; there are ", join(activation_names(), ", ")));
    if (!alphas.empty()) f->alpha = alphas[i];
    if (!betas.empty()) f->beta = betas[i];
    out.push_back(*f);
  }
  return out;
}

template <CellKind kKind>
Result<std::vector<ValueType>> infer_recurrent(const InferCall& call) {
  std::vector<ValueType> numbers;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (i != kLengths) numbers.push_back(call.inputs[i]);
  BUDA_ASSIGN(DType dtype, common_dtype(numbers, Accepts::floats));
  if (call.inputs[kLengths].dtype != DType::i32) return dtype_error(cat("lengths are I32, not ", dtype_name(call.inputs[kLengths].dtype)));
  BUDA_ASSIGN(Sizes s, sizes_of<kKind>(call.inputs, call.attrs));
  BUDA_TRY(functions(call.attrs, kKind, s.directions));
  Shape state{s.directions, s.batch, s.hidden};
  std::vector<ValueType> results{{dtype, {s.steps, s.directions, s.batch, s.hidden}, std::nullopt}, {dtype, state, std::nullopt}};
  if (kKind == CellKind::lstm) results.push_back(results[1]);
  return results;
}

// One direction of a network, for all sequences of the batch.
template <class T>
class Layer {
 public:
  // All inputs in the compute type; `h` and `c` are the states, read and written; `y` the results of this direction at step 0.
  struct Memory {
    const T *x, *w, *r, *b, *p;
    T *h, *c, *y;
    std::int64_t y_step;  // elements between results of two steps
  };

  Layer(const Sizes& sizes, CellKind kind, const Attrs& attrs, std::span<const ActivationFunction> functions, const Memory& memory,
        unsigned threads)
      : s_(sizes),
        kind_(kind),
        functions_(functions),
        m_(memory),
        threads_(threads),
        clip_(attrs.has("clip") ? attrs.real("clip") : 0),
        linear_before_reset_(kind == CellKind::gru && attrs.boolean("linear_before_reset")),
        input_forget_(kind == CellKind::lstm && attrs.boolean("input_forget")),
        cell_clip_(kind == CellKind::lstm ? attrs.real("cell_clip") : 0) {}

  Result<void> run(std::span<const std::int32_t> lengths, bool backwards) {
    BUDA_TRY(prepare());
    for (std::int64_t step = 0; step < s_.steps; ++step) {
      gemm(s_.batch, width(), s_.hidden, Matrix<T>{m_.h}, Matrix<T>{turned_.data()}, product_.data(), threads_);
      if (kind_ == CellKind::gru && !linear_before_reset_) reset_product(lengths, step, backwards);
      for (std::int64_t i = 0; i < s_.batch; ++i) {
        std::int64_t length = lengths[static_cast<std::size_t>(i)];
        if (step >= length) continue;
        std::int64_t t = backwards ? length - 1 - step : step;
        advance(i, t);
        std::copy_n(m_.h + i * s_.hidden, s_.hidden, m_.y + t * m_.y_step + i * s_.hidden);
      }
    }
    return success();
  }

 private:
  std::int64_t width() const { return gates_of(kind_) * s_.hidden; }
  static Result<std::span<T>> space(std::vector<Buffer>& owners, std::int64_t rows, std::int64_t columns) {
    BUDA_ASSIGN(Buffer buffer, Buffer::make(kDTypeOf<T>, {rows, columns}));
    owners.push_back(std::move(buffer));
    return owners.back().template as<T>();
  }

  Result<void> prepare() {
    BUDA_ASSIGN(inputs_, space(owners_, s_.steps * s_.batch, width()));
    BUDA_ASSIGN(product_, space(owners_, s_.batch, width()));
    BUDA_ASSIGN(reset_, space(owners_, s_.batch, s_.hidden));
    BUDA_ASSIGN(after_reset_, space(owners_, s_.batch, s_.hidden));
    BUDA_ASSIGN(turned_, space(owners_, s_.hidden, width()));
    gemm(s_.steps * s_.batch, width(), s_.input, Matrix<T>{m_.x}, Matrix<T>{m_.w, true}, inputs_.data(), threads_);
    for (std::int64_t g = 0; g < width(); ++g)
      for (std::int64_t k = 0; k < s_.hidden; ++k) turned_[static_cast<std::size_t>(k * width() + g)] = m_.r[g * s_.hidden + k];
    return success();
  }

  double function(std::size_t i, double x) const {
    if (clip_ > 0) x = std::clamp(x, -clip_, clip_);
    return functions_[i](x);
  }
  const T* input_row(std::int64_t sequence, std::int64_t t) const { return inputs_.data() + (t * s_.batch + sequence) * width(); }
  double bias(std::int64_t gate, std::int64_t k) const { return static_cast<double>(m_.b[gate * s_.hidden + k]); }
  double recurrent_bias(std::int64_t gate, std::int64_t k) const { return static_cast<double>(m_.b[width() + gate * s_.hidden + k]); }
  // What arrives at a gate: inputs, state and both biases.
  double arriving(std::int64_t gate, std::int64_t k, const T* in, const T* state) const {
    std::int64_t at = gate * s_.hidden + k;
    return static_cast<double>(in[at]) + static_cast<double>(state[at]) + bias(gate, k) + recurrent_bias(gate, k);
  }

  void advance(std::int64_t i, std::int64_t t) {
    const T* in = input_row(i, t);
    const T* state = product_.data() + i * width();
    for (std::int64_t k = 0; k < s_.hidden; ++k) {
      if (kind_ == CellKind::rnn)
        m_.h[i * s_.hidden + k] = static_cast<T>(function(0, arriving(0, k, in, state)));
      else if (kind_ == CellKind::lstm)
        lstm_element(i, k, in, state);
      else
        gru_element(i, k, in, state);
    }
  }

  // Gates: input, output, forget, cell.
  void lstm_element(std::int64_t i, std::int64_t k, const T* in, const T* state) {
    T& h = m_.h[i * s_.hidden + k];
    T& c = m_.c[i * s_.hidden + k];
    auto peep = [&](std::int64_t which, double cell) { return static_cast<double>(m_.p[which * s_.hidden + k]) * cell; };
    auto before = static_cast<double>(c);
    double input = function(0, arriving(0, k, in, state) + peep(0, before));
    double forget = input_forget_ ? 1 - input : function(0, arriving(2, k, in, state) + peep(2, before));
    double cell = forget * before + input * function(1, arriving(3, k, in, state));
    if (cell_clip_ > 0) cell = std::clamp(cell, -cell_clip_, cell_clip_);
    double output = function(0, arriving(1, k, in, state) + peep(1, cell));
    c = static_cast<T>(cell);
    h = static_cast<T>(output * function(2, cell));
  }

  // Gates: update, reset, hidden.
  void gru_element(std::int64_t i, std::int64_t k, const T* in, const T* state) {
    T& h = m_.h[i * s_.hidden + k];
    double update = function(0, arriving(0, k, in, state)), hidden = static_cast<double>(in[2 * s_.hidden + k]) + bias(2, k);
    if (linear_before_reset_) {
      double reset = function(0, arriving(1, k, in, state));
      hidden += reset * (static_cast<double>(state[2 * s_.hidden + k]) + recurrent_bias(2, k));
    } else {
      hidden += static_cast<double>(after_reset_[static_cast<std::size_t>(i * s_.hidden + k)]) + recurrent_bias(2, k);
    }
    h = static_cast<T>((1 - update) * function(1, hidden) + update * static_cast<double>(h));
  }

  // (reset * h) times the hidden gate's recurrent weights.
  void reset_product(std::span<const std::int32_t> lengths, std::int64_t step, bool backwards) {
    for (std::int64_t i = 0; i < s_.batch; ++i) {
      std::int64_t length = lengths[static_cast<std::size_t>(i)];
      bool active = step < length;
      const T* in = active ? input_row(i, backwards ? length - 1 - step : step) : nullptr;
      for (std::int64_t k = 0; k < s_.hidden; ++k)
        reset_[static_cast<std::size_t>(i * s_.hidden + k)] =
            active ? static_cast<T>(function(0, arriving(1, k, in, product_.data() + i * width())) *
                                    static_cast<double>(m_.h[i * s_.hidden + k]))
                   : T{0};
    }
    gemm(s_.batch, s_.hidden, s_.hidden, Matrix<T>{reset_.data()}, Matrix<T>{m_.r + 2 * s_.hidden * s_.hidden, true}, after_reset_.data(),
         threads_);
  }

  const Sizes& s_;
  CellKind kind_;
  std::span<const ActivationFunction> functions_;
  Memory m_;
  unsigned threads_;
  double clip_;
  bool linear_before_reset_, input_forget_;
  double cell_clip_;
  std::vector<Buffer> owners_;
  std::span<T> inputs_;       // [steps, batch, gates * hidden]: all inputs times w
  std::span<T> product_;      // [batch, gates * hidden]: the state times r
  std::span<T> reset_;        // [batch, hidden]
  std::span<T> after_reset_;  // [batch, hidden]
  std::span<T> turned_;       // r, transposed
};

Result<void> check_lengths(std::span<const std::int32_t> lengths, std::int64_t steps) {
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] < 0 || lengths[i] > steps)
      return shape_error(cat("sequence ", i, " has length ", lengths[i], "; sequences have 0 to ", steps, " steps"));
  return success();
}

template <CellKind kKind, class T>
Result<std::vector<Tensor>> recurrent(const EvaluateCall& call, const Sizes& s, std::span<const ActivationFunction> functions) {
  std::vector<Tensor> in;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) in.push_back(i == kLengths ? call.inputs[i] : call.inputs[i].cast(kDTypeOf<T>));
  auto data = [&](std::size_t i) { return in[i].template as<T>().data(); };
  BUDA_TRY(check_lengths(in[kLengths].as<std::int32_t>(), s.steps));
  std::vector<Buffer> out;
  for (const auto& type : call.outputs) {
    BUDA_ASSIGN(Buffer buffer, Buffer::make(kDTypeOf<T>, type.shape));
    out.push_back(std::move(buffer));
  }
  std::span<T> y = out[0].as<T>(), h = out[1].as<T>();
  std::fill(y.begin(), y.end(), T{0});
  std::copy_n(data(kH), h.size(), h.begin());
  if (kKind == CellKind::lstm) std::copy_n(data(kC), h.size(), out[2].as<T>().begin());
  const std::string& direction = call.attrs.text("direction");
  std::int64_t g = gates_of(kKind) * s.hidden, state = s.batch * s.hidden;
  for (std::int64_t d = 0; d < s.directions && !y.empty(); ++d) {
    typename Layer<T>::Memory m{
        data(kX), data(kW) + d * g * s.input, data(kR) + d * g * s.hidden, data(kB) + d * 2 * g, nullptr, h.data() + d * state,
        nullptr,  y.data() + d * state,       s.directions * state};
    if (kKind == CellKind::lstm) {
      m.c = out[2].as<T>().data() + d * state;
      m.p = data(kP) + d * kPeepholes * s.hidden;
    }
    auto of_direction = functions.subspan(static_cast<std::size_t>(d) * functions_of(kKind), functions_of(kKind));
    BUDA_TRY(Layer<T>(s, kKind, call.attrs, of_direction, m, call.threads)
                 .run(in[kLengths].as<std::int32_t>(), d == 1 || direction == "reverse"));
  }
  std::vector<Tensor> results;
  for (Buffer& buffer : out) results.push_back(std::move(buffer).take().cast(call.outputs[0].dtype));
  return results;
}

template <CellKind kKind>
Result<std::vector<Tensor>> evaluate_recurrent(const EvaluateCall& call) {
  std::vector<ValueType> types;
  for (const Tensor& t : call.inputs) types.push_back({t.dtype(), t.shape(), std::nullopt});
  BUDA_ASSIGN(Sizes s, sizes_of<kKind>(types, call.attrs));
  BUDA_ASSIGN(auto applied, functions(call.attrs, kKind, s.directions));
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype),
                              [&](auto tag) { return recurrent<kKind, typename decltype(tag)::type>(call, s, applied); });
}

template <CellKind kKind>
double recurrent_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs&) {
  const Shape& x = inputs[kX].shape;
  double steps = static_cast<double>(x[0]) * static_cast<double>(x[1]);
  return steps * (2 * volume(inputs[kW].shape) + 2 * volume(inputs[kR].shape) + volume(inputs[kB].shape));
}

template <CellKind kKind>
OpDef recurrent_op(std::string name, std::string summary, std::string standard) {
  OpDef def{
      .name = std::move(name),
      .level = Level::tensor,
      .family = "recurrent",
      .summary = std::move(summary),
      .inputs = {"x", "w", "r", "b", "lengths", "h"},
      .least_inputs = 6,
      .most_inputs = 6,
      .attrs = {{"direction",
                 AttrType::text,
                 std::string("forward"),
                 "order of steps; bidirectional: both, each with weights of its own",
                 {"forward", "reverse", "bidirectional"}},
                {"activations", AttrType::texts, std::vector<std::string>(), cat("functions of each direction; none: ", standard), {}},
                {"alpha", AttrType::reals, std::vector<double>(), "their first parameters; none: standard", {}},
                {"beta", AttrType::reals, std::vector<double>(), "and their second", {}},
                {"clip", AttrType::real, 0.0, "what arrives at a function is clipped to this magnitude; 0: not", {}}},
      .infer = infer_recurrent<kKind>,
      .evaluate = evaluate_recurrent<kKind>,
      .flops = recurrent_flops<kKind>};
  if (kKind == CellKind::lstm) {
    def.inputs.insert(def.inputs.end(), {"c", "p"});
    def.least_inputs = def.most_inputs = 8;
    def.attrs.push_back({"input_forget", AttrType::boolean, false, "the forget gate is 1 - input gate", {}});
    def.attrs.push_back({"cell_clip", AttrType::real, 0.0, "c is clipped to this magnitude; 0: not", {}});
  }
  if (kKind == CellKind::gru)
    def.attrs.push_back({"linear_before_reset", AttrType::boolean, false, "multiply with the recurrent weights before the reset gate", {}});
  return def;
}

}  // namespace

std::vector<OpDef> recurrent_ops() {
  return {recurrent_op<CellKind::rnn>(
              "rnn", "states h = f(x w^T + h r^T + both biases) of a sequence x [steps, batch, input]; all of them, and the last", "tanh"),
          recurrent_op<CellKind::lstm>(
              "lstm", "a long short-term memory with gates input, output, forget, cell and peepholes p; all h, the last, and the last c",
              "sigmoid (gates), tanh (cell), tanh (result)"),
          recurrent_op<CellKind::gru>("gru", "a gated recurrent unit with gates update, reset, hidden; all h, and the last",
                                      "sigmoid (gates), tanh (hidden)")};
}

}  // namespace buda::ops
