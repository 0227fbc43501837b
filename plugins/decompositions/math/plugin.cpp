// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `math`: elementwise operations that the chips have no op for.
//
//   minimum(a, b)   -max(-a, -b)
//
// Powers are in power.cpp, trigonometry and the like in trigonometry.cpp, rounding and remainders in rounding.cpp.
#include "rules.hpp"

#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

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

}  // namespace

BUDA_PLUGIN(.name = "math", .version = "1.0", .description = "elementwise operations without a device op", .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::decomposition_entry<Minimum>("minimum", "minimum through maximum"));
  for (auto& spec : buda::math::power_rules()) registrar.add_decomposition(buda::plugin::rule(std::move(spec)));
  for (auto& spec : buda::math::trigonometry_rules()) registrar.add_decomposition(buda::plugin::rule(std::move(spec)));
  for (auto& spec : buda::math::rounding_rules()) registrar.add_decomposition(buda::plugin::rule(std::move(spec)));
}
