// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `linear`: gemm as a matmul, with scales on what is known; determinants are in determinant.cpp.
//
//   before   y = gemm(a, b, c) alpha=0.5 beta=2 trans_b=true
//   after    y.b = transpose(b) perm=[1, 0]
//            y.scaled = multiply(y.b, 0.5)
//            y.product = matmul(a, y.scaled)
//            y.c = multiply(c, 2)
//            y = add(y.product, y.c)
//
// b and c are weights as a rule: constant-folding then computes y.scaled and y.c, and fuse-bias makes y.c the matmul's bias.
#include "rules.hpp"

#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

namespace {

using buda::graph::Edge;
using buda::graph::Graph;
using buda::graph::GraphEditor;
using buda::graph::Node;
using buda::graph::NodeId;

class Gemm final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"gemm"}; }
  std::vector<std::string> produces() const override { return {"transpose", "matmul", "multiply", "add"}; }

  bool matches(const Graph&, const Node& node) const override { return buda::is_float(node.outputs[0].dtype); }

  buda::Result<void> rewrite(GraphEditor& editor, NodeId id) override {
    const Node& n = editor.graph().node(id);
    buda::ops::Attrs attrs(*buda::ops::standard_ops().find(buda::graph::Level::tensor, "gemm"), n.attrs);
    double alpha = attrs.real("alpha"), beta = attrs.real("beta");
    std::vector<Edge> in = n.inputs();
    buda::DType dtype = n.outputs[0].dtype;
    // A factor on a weight costs nothing at run time, one on the product does.
    bool scale_b = editor.graph().node(in[1].source.node).has_value();

    buda::ops::Builder b(editor);
    auto scaled = [&](const char* name, Edge x, double factor) -> Edge {
      if (factor == 1) return x;
      auto by = b.named(std::string(name) + ".factor").constant(factor, dtype);
      return b.named(name).multiply(x, by);
    };
    Edge left = attrs.boolean("trans_a") ? Edge(b.named("a").transpose(in[0], {1, 0})) : in[0];
    Edge right = attrs.boolean("trans_b") ? Edge(b.named("b").transpose(in[1], {1, 0})) : in[1];
    if (scale_b) right = scaled("scaled", right, alpha);
    Edge y = b.named("product").matmul(left, right);
    if (!scale_b) y = scaled("scaled", y, alpha);
    if (in.size() == 3 && beta != 0) y = b.add(y, scaled("c", in[2], beta));
    BUDA_TRY(b.status());
    editor.replace(id, y.source);
    return buda::success();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "linear", .version = "1.0", .description = "general matrix products as matmuls", .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::decomposition_entry<Gemm>("gemm", "gemm as transposes, matmul, multiply and add"));
  registrar.add_decomposition(buda::plugin::rule(buda::linear::determinant_rule()));
}
