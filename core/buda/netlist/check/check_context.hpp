// SPDX-License-Identifier: Apache-2.0
// What the parts of the validator share. Internal to this module.
#pragma once

#include <buda/base/text.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/model/index.hpp>
#include <buda/netlist/model/op_shapes.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

class CheckContext {
 public:
  CheckContext(const Netlist& n, const device::DeviceDescriptor& d, const CheckOptions& options);

  const Netlist& netlist;
  const device::DeviceDescriptor& device;
  const Index index;
  const CheckOptions options;
  int hints_left = 20;
  // Readers of each queue and op by name, in file order.
  struct Reader {
    OpRef op;
    std::size_t input = 0;
  };
  std::map<std::string_view, std::vector<Reader>> readers;
  // Queues that an op writes.
  std::map<std::string_view, std::vector<std::size_t>> writers_of_queues;  // op name -> queues it feeds

  const Op& op(OpRef ref) const { return netlist.graphs[ref.graph].ops[ref.op]; }
  const std::vector<Reader>& readers_of(std::string_view name) const;
  const std::vector<std::size_t>& queues_fed_by(std::string_view op) const;

  // Adds a breach of a rule. `what` and `name` begin the message: "op 'mm0': ...".
  Diagnostic& error(std::string_view code, std::string_view what, const std::string& name, SourceLocation place, std::string message,
                    std::string hint = "") {
    return add(Severity::error, code, what, name, place, std::move(message), std::move(hint));
  }
  Diagnostic& op_error(std::string_view code, const Op& op, Field field, std::string message, std::string hint = "", int input = -1) {
    return error(code, "op", op.name, op.places.of(field, input), std::move(message), std::move(hint));
  }
  // Whether the file has this attribute: then it has a place of its own.
  static bool stands(const Op& op, std::string_view attribute) {
    const SourceLocation own = op.places.of_attribute(attribute_number(attribute)), all = op.places.of(Field::attributes);
    return own.line != all.line || own.column != all.column;
  }
  // At the place of one attribute, or of all when it is not there.
  Diagnostic& attribute_error(std::string_view code, const Op& op, std::string_view attribute, std::string message, std::string hint = "") {
    return error(code, "op", op.name, op.places.of_attribute(attribute_number(attribute)), std::move(message), std::move(hint));
  }
  Diagnostic& queue_error(std::string_view code, const Queue& q, Field field, std::string message, std::string hint = "",
                          int element = -1) {
    return error(code, "queue", q.name, q.places.of(field, element), std::move(message), std::move(hint));
  }
  // The same of a rule that TT-Buda checks when it runs a netlist, and therefore a warning at CheckLevel::compile.
  Diagnostic& run_error(std::string_view code, std::string_view what, const std::string& name, SourceLocation place, std::string message) {
    return add(options.level == CheckLevel::run ? Severity::error : Severity::warning, code, what, name, place, std::move(message), "");
  }
  Diagnostic& queue_run_error(std::string_view code, const Queue& q, Field field, std::string message, int element = -1) {
    return run_error(code, "queue", q.name, q.places.of(field, element), std::move(message));
  }
  Diagnostic& queue_warning(std::string_view code, const Queue& q, Field field, std::string message, int element = -1) {
    return add(Severity::warning, code, "queue", q.name, q.places.of(field, element), std::move(message), "");
  }
  // Nothing more is kept of errors; looking for them is a waste of time.
  bool full() const { return errors_.size() >= kMaxFindings; }
  std::vector<Diagnostic> take();

 private:
  Diagnostic& add(Severity severity, std::string_view code, std::string_view what, const std::string& name, SourceLocation place,
                  std::string message, std::string hint);

  std::vector<Diagnostic> errors_, warnings_;
  Diagnostic surplus_;  // where findings beyond the bounds go
};

// "needed 12, available 8" for programs; the fault is `fit`.
void needs(Diagnostic& d, std::string_view resource, std::uint64_t needed, std::uint64_t available);

void check_structure(CheckContext& ctx);
void check_queues(CheckContext& ctx);
void check_memory(CheckContext& ctx);
void check_placement(CheckContext& ctx);
void check_formats(CheckContext& ctx, const Graph& graph, const Op& op);
void check_integers(CheckContext& ctx, const Op& op);
void check_op(CheckContext& ctx, const Graph& graph, const Op& op);
// What goes by the type of op: matmul, reduce, splice, embedding, …
void check_op_type(CheckContext& ctx, const Op& op);
void check_edges(CheckContext& ctx, const Graph& graph, const Op& op);
void check_queue_edges(CheckContext& ctx);
// By itself, and as an op uses it.
void check_fused_op(CheckContext& ctx, const FusedOp& fused);
void check_fused_use(CheckContext& ctx, const Op& op, const FusedOp& fused);
void check_programs(CheckContext& ctx);

}  // namespace buda::netlist
