// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `example`: a division becomes a product with a reciprocal. Read this first when you write one of your own.
//
//   before   y = divide(a, b)
//   after    y.reciprocal = reciprocal(b)
//            y = multiply(a, y.reciprocal)
//
// The matrix chips have no division, so the optimizer really uses this. Try: optimizer model.graph.json --passes decompose --print-after
// decompose
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

namespace {

class Divide final : public buda::passes::Decomposition {
 public:
  // The ops that the rule replaces. Several rules may name one op; the one with the highest priority() that matches is used.
  std::vector<std::string> consumes() const override { return {"divide"}; }

  // Everything that it may build. The optimizer refuses other ops, so keep the list in step with rewrite().
  std::vector<std::string> produces() const override { return {"reciprocal", "multiply"}; }

  // Whether this node is one for the rule. Types of its inputs and results are known here. Integers have no reciprocal.
  bool matches(const buda::graph::Graph&, const buda::graph::Node& node) const override { return buda::is_float(node.outputs[0].dtype); }

  buda::Result<void> rewrite(buda::graph::GraphEditor& editor, buda::graph::NodeId id) override {
    // Copy what is needed of the node: replace() erases it.
    auto inputs = editor.graph().node(id).inputs();

    // A Builder on the editor derives types and takes names, tags and origins from the node being replaced. Failures are kept until
    // status(); calls after one do nothing.
    buda::ops::Builder b(editor);
    auto y = b.multiply(inputs[0], b.reciprocal(inputs[1]));
    BUDA_TRY(b.status());

    // Users of the old node now use the new one, which takes over its name. They must see the same type as before.
    editor.replace(id, y);
    return buda::success();
  }
};

}  // namespace

// Registers the rule. One with options is registered as in plugins/decompositions/nn.
BUDA_PLUGIN(.name = "example", .version = "1.0", .description = "division as a product with a reciprocal", .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::decomposition_entry<Divide>("divide", "a / b as a * (1 / b)"));
}
