// The steps of balancing in their order.
#include <buda/balance/balance.hpp>

#include <buda/balance/overrides.hpp>
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

// Models of all ops; ops without any are reported together.
Result<ChoiceSpace> make_space(const Problem& problem, const BalanceOptions& options, Host& host) {
  ChoiceSpace space;
  space.problem = &problem;
  space.options = options.models;
  BUDA_ASSIGN(space.overrides, parse_overrides(problem, options.overrides));
  space.models.resize(problem.ops.size());
  parallel_for(host.threads, problem.ops.size(), [&](std::size_t i) {
    space.models[i] = legal_models(problem.ops[i], *problem.device, options.models, &space.overrides[i]);
  });
  Failure failure;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const OpSpec& spec = problem.ops[i];
    const OpOverride& wish = space.overrides[i];
    host.log(2, cat("op ", spec.label, ": ", space.models[i].models.size(),
                    " legal implementations; rejected: ", space.models[i].rejections.text()));
    if (!space.models[i].models.empty()) continue;
    LegalModels free = wish.given.empty() ? LegalModels{} : legal_models(spec, *problem.device, options.models, nullptr);
    failure.add(free.models.empty() ? no_legal_model(problem, spec, space.models[i], options.models)
                                    : illegal_override(spec, wish, free, *problem.device));
  }
  if (!failure.empty()) return failure;
  return space;
}

Result<Choice> choose(const ChoiceSpace& space, Policy& policy, const std::string& name, std::uint64_t seed) {
  PolicyContext context(space, seed);
  BUDA_ASSIGN(Choice choice, policy.choose(context));
  auto findings = check_choice(space, choice);
  if (findings.empty()) return choice;
  for (Diagnostic& d : findings) {
    d.code = "BL030";
    d.fault = Fault::bug;
    d.message = cat("policy '", name, "' made an illegal choice: ", d.message);
  }
  return Failure(std::move(findings));
}

}  // namespace

Result<Balanced> balance(graph::Graph graph, const device::DeviceDescriptor& device, Policy& policy, const std::string& policy_name,
                         const BalanceOptions& options, Host& host) {
  Balanced out;
  out.graph = std::move(graph);
  for (const std::string& name : normalize(out.graph))
    host.report(warning("BL040", out.graph.node(out.graph.find(name)).loc,
                        cat("input '", name, "' is not used by any output; nothing will be pushed for it")));
  BUDA_ASSIGN(out.problem, make_problem(out.graph, schedule(out.graph, options.schedule), device));
  BUDA_ASSIGN(ChoiceSpace space, make_space(out.problem, options, host));
  BUDA_ASSIGN(out.choice, choose(space, policy, policy_name, host.seed));
  BUDA_ASSIGN(QueueSet queues, make_queues(out.problem, out.choice, options.queues));
  BUDA_ASSIGN(out.built, build_netlist(out.problem, out.choice, std::move(queues)));
  std::vector<std::int64_t> candidates;
  for (const auto& models : space.models) candidates.push_back(static_cast<std::int64_t>(models.models.size()));
  out.report = make_report(out.problem, out.choice, out.built, candidates, policy_name);
  return out;
}

}  // namespace buda::balance
