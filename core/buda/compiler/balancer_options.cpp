// Declaration of the balancer's options.
#include <buda/compiler/balancer_options.hpp>

#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/problem/problem.hpp>
#include <buda/balance/problem/schedule.hpp>

namespace buda::compiler {

void declare(schema::OptionSet& set, BalancerOptions& o) {
  set.group("Choice");
  set.text("policy", o.policy, "NAME", "policy that chooses and places; --list-plugins shows them")
      .known_as("balancer_policy")
      .environment("PYBUDA_BALANCER_POLICY_TYPE");
  set.choice("scheduler", o.scheduler, {std::string(balance::kModuleInputsBfs), std::string(balance::kTopological)},
             "order in which ops are placed")
      .environment("PYBUDA_SCHEDULER_POLICY");
  set.flag("auto-transpose", o.auto_transpose, "transpose a grid where it does not fit otherwise")
      .known_as("enable_auto_transposing_placement");
  set.flag("dram-parameters", o.dram_parameters, "keep no parameter in L1: stream them all from DRAM").known_as("default_dram_parameters");
  set.flag("t-streaming", o.t_streaming, "cut results that do not fit L1 into parts that pass through the grid one after the other")
      .known_as("enable_t_streaming");
  set.family("op.", "op.NAME.KEY=VALUE", o.op_overrides, std::string("overrides for one op: ") + balance::kOverrideForms);
  set.integer("microbatch", o.microbatch, "N", "batches of the model that every epoch processes before the next one begins")
      .known_as("microbatch_size")
      .range(1, static_cast<double>(balance::kMostEntries / 2));
  set.integer("queue-entries", o.queue_entries, "N", "batches of the model's inputs and outputs that the queues of the host hold")
      .range(1, static_cast<double>(balance::kMostEntries));
}

}  // namespace buda::compiler
