// SPDX-License-Identifier: Apache-2.0
// A walk over all operations that a function can reach.
#include "check.hpp"

#include "op_table.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/unsupported.hpp>

#include <set>

namespace buda::stablehlo {
namespace {

class FunctionCheck {
 public:
  FunctionCheck(const Module& module, const Functions& functions) : module_(&module), functions_(&functions) {}

  void function(const Function& f) {
    if (!seen_.insert(f.name).second) return;
    if (f.operation->regions.empty()) {
      failure_.add(module_->error("SH021", cat("function '", f.name, "' has no body"), f.operation->line));
      return;
    }
    region(f.body());
  }

  Result<void> finish() {
    if (!unsupported_.empty())
      failure_.add(unsupported_.report(module_->error("SH030", "the model uses operators that are not supported")));
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  void region(const Region& r) {
    for (const Operation& op : r.operations) operation(op);
  }

  // Bytecode has no lines.
  static std::string place(const Operation& op) { return op.line == 0 ? cat("value ", op.label) : cat("line ", op.line); }

  void operation(const Operation& op) {
    const bool ends = op.name == "func.return" || op.name == "stablehlo.return" || op.name == "chlo.return";
    if (!ends && find_importer(op.name) == nullptr) {
      unsupported_.add(op.name, cat("operator ", op.name), std::string(out_of_scope(op.name)), place(op));
      return;
    }
    if (op.name == "stablehlo.custom_call" && !op.results.empty()) {
      const Attribute* attribute = op.attributes.find("call_target_name");
      const auto* target = attribute == nullptr ? nullptr : attribute->as<std::string>();
      const std::string name = target == nullptr ? std::string() : *target;
      if (!is_known_target(name))
        unsupported_.add(
            cat(op.name, ' ', name), cat("operator ", op.name, " of '", name, "'"),
            "it calls code outside of the file; export the model for the CPU without custom calls, or compute this part before "
            "or after the model",
            place(op));
    }
    for (std::string_view by : {"callee", "decomposition"})
      if (const Attribute* attribute = op.attributes.find(by))
        if (const auto* name = attribute->as<std::string>()) called(op, *name);
    for (const Region& r : op.regions) region(r);
  }

  void called(const Operation& op, const std::string& name) {
    auto it = functions_->find(name);
    if (it != functions_->end()) return function(it->second);
    failure_.add(
        module_->error("SH022", cat("operation ", op.name, " calls the function '", name, "', which the file does not have"), op.line));
  }

  const Module* module_;
  const Functions* functions_;
  std::set<std::string> seen_;
  frontend::UnsupportedOps unsupported_;
  Failure failure_;
};

}  // namespace

Result<void> check_function(const Module& module, const Functions& functions, const Function& function) {
  FunctionCheck check(module, functions);
  check.function(function);
  return check.finish();
}

}  // namespace buda::stablehlo
