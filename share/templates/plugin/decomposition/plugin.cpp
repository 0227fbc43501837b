// Decomposition plugin `mine`: <what it replaces, by what, and why>.
//
//   before   y = relu(x)
//   after    y = maximum(x, 0)
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/tensor/tensor.hpp>

namespace {

class Mine final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"relu"}; }
  std::vector<std::string> produces() const override { return {"maximum"}; }
  int priority() const override { return 1; }  // above those that come with OpenBuda

  bool matches(const buda::graph::Graph&, const buda::graph::Node& node) const override { return buda::is_float(node.outputs[0].dtype); }

  buda::Result<void> rewrite(buda::graph::GraphEditor& editor, buda::graph::NodeId id) override {
    const auto& node = editor.graph().node(id);
    auto x = node.inputs()[0];
    auto dtype = node.outputs[0].dtype;
    buda::ops::Builder b(editor);
    auto y = b.maximum(x, b.named("zero").constant(buda::Tensor::scalar(0.0f).cast(dtype)));
    BUDA_TRY(b.status());
    editor.replace(id, y);
    return buda::success();
  }
};

}  // namespace

BUDA_PLUGIN(.name = "mine", .version = "0.1", .description = "<one line>", .license = "Apache-2.0") {
  registrar.add_decomposition(buda::plugin::decomposition_entry<Mine>("mine", "<one line>"));
}
