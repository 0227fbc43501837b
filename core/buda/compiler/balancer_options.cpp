// SPDX-License-Identifier: Apache-2.0
// Declaration of the balancer's options.
#include <buda/compiler/balancer_options.hpp>

#include <buda/balance/legalize/overrides.hpp>
#include <buda/balance/problem/problem.hpp>
#include <buda/balance/queues/queues.hpp>

namespace buda::compiler {

void declare(schema::OptionSet& set, BalancerOptions& o) {
  set.group("Choice");
  set.text("policy", o.policy, "NAME", "policy that chooses and places op models; --list-plugins lists the policies")
      .known_as("balancer_policy")
      .environment("PYBUDA_BALANCER_POLICY_TYPE");
  set.integer("effort", o.effort, "N", "how much a policy searches: 0, little; 1; 2 and 3, several times as much").range(0, 3);
  set.flag("interactive-placer", o.interactive_placer,
           "let policies take placements back and try others; without it they place ops once, as with --effort 0")
      .known_as("use_interactive_placer");
  set.choice("scheduler", o.scheduler, {std::begin(balance::kScheduleNames), std::end(balance::kScheduleNames)},
             "order in which ops are placed: breadth first from the model's inputs, or as in the graph; auto: breadth first, and with "
             "--effort 2 or 3 the one with the faster plan")
      .environment("PYBUDA_SCHEDULER_POLICY");
  set.choice("dram-placement", o.dram_placement, {std::begin(balance::kDramAlgorithms), std::end(balance::kDramAlgorithms)},
             "how buffers of queues are assigned to DRAM channels: by the traffic of each epoch, or as in PyBuda")
      .known_as("dram_placement_algorithm");
  set.integer("num-chips", o.num_chips, "N", "chips of the device that the model goes through as a pipeline; 0: all")
      .at_least(0)
      .environment("PYBUDA_OVERRIDE_NUM_CHIPS");
  set.texts("chip-ids", o.chip_ids, "LIST", "numbers of these chips, with commas; default: the first --num-chips");
  set.text("cluster", o.cluster, "NAME|FILE", "links between the chips, and how many there are; default: the cluster of the device")
      .known_as("backend_cluster_descriptor_path");
  set.choice("chip-placement-policy", o.chip_placement_policy, {std::begin(balance::kChipOrders), std::end(balance::kChipOrders)},
             "order of the chips: those that the host reaches directly last, or by number");
  set.flag("auto-transpose", o.auto_transpose, "turn grids by 90 degrees where they have no room upright")
      .known_as("enable_auto_transposing_placement");
  set.flag("dram-parameters", o.dram_parameters, "stream all parameters from DRAM instead of keeping them in L1")
      .known_as("default_dram_parameters");
  set.flag("t-streaming", o.t_streaming, "compute results that do not fit in L1 in parts, one after the other on the same cores")
      .known_as("enable_t_streaming");
  set.flag("manual-t-streaming", o.manual_t_streaming, "stream only results for which op.NAME.t-stream is set");
  set.flag("enumerate-u-kt", o.enumerate_u_kt, "consider every step of the inner dimension that fits, not only the largest for each grid")
      .known_as("enable_enumerate_u_kt");
  set.flag("single-buffer-fallback", o.single_buffer_fallback, "hold a result once where it does not fit in L1 twice")
      .known_as("enable_single_buffer_fallback")
      .environment("PYBUDA_ENABLE_SINGLE_BUFFER_FALLBACK");
  set.choice("self-cut", o.self_cut, {std::begin(balance::kSelfCuts), std::end(balance::kSelfCuts)},
             "where the implementations of neighbouring ops are incompatible: put them into different epochs, or queues between them")
      .known_as("graph_solver_self_cut_type");
  set.flag("place-on-one-row", o.place_on_one_row, "give ops one row of cores, as far as they have such a grid")
      .known_as("place_on_one_row");
  set.flag("disable-l1-accumulate", o.disable_l1_accumulate, "do not accumulate partial sums of matmuls in L1 by the packer (l1_acc)")
      .environment("PYBUDA_DISABLE_L1_ACCUMULATE");
  set.flag("wide-sums", o.wide_sums, "add up in Float32 where epochs stay as fast and nobody asked for a format (op.NAME.wide-sums)");
  set.flag("input-queues-on-host", o.input_queues_on_host, "keep queues of the model's inputs in the host's memory instead of DRAM")
      .environment("PYBUDA_ENABLE_INPUT_QUEUES_ON_HOST");
  set.flag("output-queues-on-host", o.output_queues_on_host, "keep queues of the model's outputs in the host's memory instead of DRAM")
      .environment("PYBUDA_ENABLE_OUTPUT_QUEUES_ON_HOST");
  set.flag("forked-dram-inputs", o.forked_dram_inputs, "let ops of an epoch that read the same from DRAM share the reads")
      .known_as("enable_forked_dram_inputs")
      .environment("PYBUDA_ENABLE_FORKED_DRAM_INPUTS");
  set.flag("static-queues", o.static_queues,
           "keep the memory of queues between epochs, instead of sharing it among those not in use together")
      .environment("PYBUDA_DISABLE_DYNAMIC_DRAM");
  set.family("op.", "op.NAME.KEY=VALUE", o.op_overrides, std::string("overrides for one op: ") + balance::kOverrideForms);
  set.family("queue.", balance::kQueuePlaceForm, o.queues, "the channel of DRAM of a queue (PyBuda's place_queue_to_chip_dram)");
  set.integer("microbatch", o.microbatch, "N", "batches of the model that every epoch processes before the next one begins")
      .known_as("microbatch_size")
      .range(1, static_cast<double>(balance::kMaxEntries / 2));
  set.integer("queue-entries", o.queue_entries, "N", "capacity of the host's queues in batches of the model")
      .range(1, static_cast<double>(balance::kMaxEntries));
}

}  // namespace buda::compiler
