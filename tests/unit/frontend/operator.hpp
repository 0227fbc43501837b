// SPDX-License-Identifier: Apache-2.0
// An operator of no model, for tests of what frontends share.
#pragma once

#include <buda/base/text.hpp>
#include <buda/frontend/op_import.hpp>
#include <buda/graph/graph.hpp>

namespace buda::frontend {

class TestOperator : public OpImport {
 public:
  explicit TestOperator(ops::Builder& builder) : builder_(&builder) {}
  ops::Builder& result() override { return builder_->named(builder_->graph().fresh_name("op")); }
  ops::Builder& step(std::string_view suffix) override { return builder_->named(builder_->graph().fresh_name(cat("op.", suffix))); }
  Diagnostic refuse(std::string reason) const override { return input_error("T001", {}, "op: " + reason); }

 private:
  ops::Builder* builder_;
};

}  // namespace buda::frontend
