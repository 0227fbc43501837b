// SPDX-License-Identifier: Apache-2.0
// Decompositions: rules that replace an op by simpler ones, until only ops are left that a device can run.
//
// To write one, derive Decomposition and register it in a plugin (docs/plugins/decomposition.md):
//
//   class Divide final : public buda::passes::Decomposition {
//    public:
//     std::vector<std::string> consumes() const override { return {"divide"}; }
//     std::vector<std::string> produces() const override { return {"reciprocal", "multiply"}; }
//     buda::Result<void> rewrite(buda::graph::GraphEditor& editor, buda::graph::NodeId id) override {
//       auto in = editor.graph().node(id).inputs();
//       buda::ops::Builder b(editor);
//       auto y = b.multiply(in[0], b.reciprocal(in[1]));
//       BUDA_TRY(b.status());
//       editor.replace(id, y);
//       return buda::success();
//     }
//   };
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::passes {

// The graph is at tensor level. A rule has no state that one rewrite hands to the next: the order of rewrites is the pass's business.
class Decomposition {
 public:
  virtual ~Decomposition() = default;

  // Names of the ops that it may replace. Asked once.
  virtual std::vector<std::string> consumes() const = 0;
  // Names of all ops that it may leave behind (parameters and constants need no mention). The pass refuses others, so that nobody has to
  // read a rule to know what it may lead to. Asked once.
  virtual std::vector<std::string> produces() const = 0;
  // Of the rules for one op the one with the highest priority is asked first; ties go by name. Those that come with OpenBuda have 0, so
  // a positive priority replaces them and a negative one stands in where they do not match.
  virtual int priority() const { return 0; }

  // Whether the rule applies to this node, whose op is among consumes() and whose inputs and results have types.
  virtual bool matches(const graph::Graph& graph, const graph::Node& node) const {
    static_cast<void>(graph);
    static_cast<void>(node);
    return true;
  }

  // Builds the replacement with the editor (or an ops::Builder on it) and calls editor.replace(). Types and shapes of what the node's users
  // see must stay. A failure stops the compilation, so a rule that has its doubts says so in matches().
  virtual Result<void> rewrite(graph::GraphEditor& editor, graph::NodeId id) = 0;

  // Names of ops that it differentiates for training, in place of OpenBuda's own rules. Asked once.
  virtual std::vector<std::string> differentiates() const { return {}; }

  // The gradients of the node's inputs, one for each, of its type and of its shape before it was broadcast or after; an invalid one: none.
  // They come from those of its results (invalid where the loss does not depend on one) by nodes that the editor adds; the node stays.
  virtual Result<std::vector<graph::ValueRef>> gradient(graph::GraphEditor& editor, graph::NodeId id,
                                                        const std::vector<graph::ValueRef>& incoming) {
    static_cast<void>(editor);
    static_cast<void>(id);
    static_cast<void>(incoming);
    return internal_error("the decomposition has no gradient()");
  }
};

// A rule under its registered name, and the plugin file it is from (for messages; empty: part of the program).
struct NamedDecomposition {
  std::string name;
  std::string file;
  std::unique_ptr<Decomposition> rule;
};

using DecompositionSet = std::vector<NamedDecomposition>;

// A node with this tag, whatever its value, is left as it is.
inline constexpr const char* kDontDecompose = "dont_decompose";

// On a convolution: into how many, of fewer rows of the window each, it is to be split; -1: one for each row.
inline constexpr const char* kWindowParts = "window_parts";

}  // namespace buda::passes

#pragma GCC visibility pop
