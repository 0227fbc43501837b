// Decomposition plugin `math`: elementwise operations that the chips have no op for.
//
//   minimum(a, b)   -max(-a, -b)
//   power(x, c)     for constants c: x², 1/x, √x, 1/√x, 1/x^-c; otherwise e^(c ln x). Positive whole powers have a device op and are left.
//                   e^(c ln x) is for x that are not negative. Its relative error is c ln x times that of the format. Large whole c take
//                   |x|, and odd ones its sign. Whether an exponent that is known only at run time is whole, and odd, no chip can tell
//                   (lower/rules/eltwise.cpp, round): where the base may be negative, that op is left to the host.
//
// Trigonometry and the like are in trigonometry.cpp, rounding and remainders in rounding.cpp.
#include "rules.hpp"

#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

#include <buda/passes/simplify/constant_value.hpp>

#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace {

using buda::graph::Edge;
using buda::graph::Graph;
using buda::graph::GraphEditor;
using buda::graph::Node;
using buda::graph::NodeId;
using buda::ops::Builder;

class Minimum final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"minimum"}; }
  std::vector<std::string> produces() const override { return {"negative", "maximum"}; }
  bool matches(const Graph&, const Node& node) const override { return buda::is_float(node.outputs[0].dtype); }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    std::vector<Edge> in = editor.graph().node(id).inputs();
    Builder b(editor);
    auto left = b.named("a").negative(in[0]);
    auto right = b.named("b").negative(in[1]);
    auto y = b.negative(b.maximum(left, right));
    BUDA_TRY(b.status());
    editor.replace(id, y);
    return buda::success();
  }
};

class Power final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"power"}; }
  std::vector<std::string> produces() const override {
    return {"square", "reciprocal", "sqrt", "power", "log", "multiply", "exp", "abs", "sign"};
  }

  bool matches(const Graph& graph, const Node& node) const override {
    if (!buda::is_float(node.outputs[0].dtype)) return false;
    auto c = constant_exponent(graph, node);
    if (!c) return is_never_negative(graph, node.inputs()[0], kSteps);
    return *c < 0 || *c == 2 || *c != std::trunc(*c) || *c > kMostDevicePower;
  }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    std::vector<Edge> in = n.inputs();
    auto c = constant_exponent(editor.graph(), n);
    buda::DType dtype = n.outputs[0].dtype;
    Builder b(editor);
    buda::graph::ValueRef y;
    if (c && *c == 2) {
      y = b.square(in[0]);
    } else if (c && *c == 0.5) {
      y = b.sqrt(in[0]);
    } else if (c && *c == -0.5) {
      y = b.reciprocal(b.sqrt(in[0]));
    } else if (c && *c == -1) {
      y = b.reciprocal(in[0]);
    } else if (c && *c < 0 && *c == std::trunc(*c)) {
      y = b.reciprocal(b.op("power", {in[0], b.named("exponent").constant(-*c, dtype)}));
    } else if (c && *c == std::trunc(*c)) {
      y = b.exp(b.multiply(b.log(b.abs(in[0])), in[1]));
      if (std::fmod(*c, 2) != 0) y = b.multiply(y, b.op("sign", {in[0]}));
    } else {
      y = b.exp(b.multiply(b.log(in[0]), in[1]));
    }
    BUDA_TRY(b.status());
    editor.replace(id, y);
    return buda::success();
  }

 private:
  // How far back a base is followed.
  static constexpr int kSteps = 8;

  static bool is_never_negative(const Graph& graph, const Edge& value, int steps) {
    if (const buda::Tensor* known = buda::passes::value_of(graph, value)) {
      const std::vector<float> numbers = known->to_f32();
      return std::all_of(numbers.begin(), numbers.end(), [](float v) { return v >= 0; });
    }
    const Node& n = graph.node(value.source.node);
    if (!n.is_op() || steps == 0) return false;
    static constexpr std::array<std::string_view, 9> kNever = {"relu",    "abs",     "exp",          "square",  "sqrt",
                                                               "sigmoid", "softmax", "hard_sigmoid", "softplus"};
    static constexpr std::array<std::string_view, 14> kOfSuch = {"add",        "multiply",   "divide",    "maximum",    "minimum",
                                                                 "reduce_sum", "reduce_avg", "slice",     "reduce_max", "reduce_min",
                                                                 "reciprocal", "reshape",    "transpose", "broadcast"};
    const auto is_one_of = [&](const auto& ops) { return std::find(ops.begin(), ops.end(), n.op()) != ops.end(); };
    if (is_one_of(kNever)) return true;
    if (n.op() == "clip" && buda::ops::Attrs(*buda::ops::standard_ops().find(buda::graph::Level::tensor, "clip"), n.attrs).real("min") >= 0)
      return true;
    const auto is_input_never = [&](const Edge& in) { return is_never_negative(graph, in, steps - 1); };
    if (n.op() == "maximum") return std::any_of(n.inputs().begin(), n.inputs().end(), is_input_never);
    return is_one_of(kOfSuch) && std::all_of(n.inputs().begin(), n.inputs().end(), is_input_never);
  }

  // As far as the device's op goes; beyond it a power of 16-bit floats has few right digits anyway.
  static constexpr double kMostDevicePower = 64;

  static std::optional<double> constant_exponent(const Graph& graph, const Node& node) {
    if (node.outputs[0] != *graph.type(node.inputs()[0].source)) return std::nullopt;
    return buda::passes::uniform_value(graph, node.inputs()[1]);
  }
};

}  // namespace

BUDA_PLUGIN(.name = "math", .version = "1.0", .description = "elementwise operations without a device op", .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::decomposition_entry<Minimum>("minimum", "minimum through maximum"));
  registrar.add_decomposition(buda::plugin::decomposition_entry<Power>("power", "powers through square, reciprocal, sqrt, or exp and log"));
  for (auto& spec : buda::math::trigonometry_rules()) registrar.add_decomposition(buda::plugin::rule(std::move(spec)));
  for (auto& spec : buda::math::rounding_rules()) registrar.add_decomposition(buda::plugin::rule(std::move(spec)));
}
