// SPDX-License-Identifier: Apache-2.0
// Selection of passes by options.
#include <buda/compiler/pass_switches.hpp>

#include <algorithm>

namespace buda::compiler {
namespace {

std::optional<bool> only_if(bool wanted) { return wanted; }

std::string_view recompute_option(const OptimizerOptions& o) {
  return o.recompute != 0 ? "recompute" : o.enable_recompute ? "enable-recompute" : "saved-limit";
}
bool recomputes(const OptimizerOptions& o) { return o.recompute != 0 || o.enable_recompute || o.saved_limit > 0; }

// Groups that the user names are fused at every level, whether ops are fused automatically or not.
std::optional<bool> fusing(const OptimizerOptions& o) { return o.manual_fuse.empty() ? o.auto_fusing : true; }

// The level decides, unless nothing is to be fused but what the user names.
std::optional<bool> fusing_some(const OptimizerOptions& o) {
  return !o.manual_fuse.empty() || o.auto_fusing == false ? std::optional(false) : std::nullopt;
}

}  // namespace

std::vector<PassSwitch> pass_switches(const OptimizerOptions& o) {
  return {{"enable-consteval", "constant-folding", o.fold_constants},
          {o.manual_fuse.empty() ? "enable-auto-fusing" : "op-names-manual-fuse", "fuse-ops", fusing(o)},
          {o.manual_fuse.empty() ? "enable-auto-fusing" : "op-names-manual-fuse", "fuse-updates", fusing_some(o)},
          {o.manual_fuse.empty() ? "enable-auto-fusing" : "op-names-manual-fuse", "fuse-shifts", fusing_some(o)},
          {"enable-small-tiles", "small-tiles", o.small_tiles},
          {recompute_option(o), "choose-saved", only_if(recomputes(o))},
          {"enable-device-tilize", "tilize-on-device", only_if(o.device_tilize)},
          {"insert-fracture-group", "fracture", only_if(!o.fracture_groups.empty())},
          {o.queues.empty() ? "insert-buffering-nop" : "insert-queues", "insert-buffers", only_if(!o.queues.empty() || !o.nops.empty())}};
}

passes::Pipeline switched(passes::Pipeline pipeline, std::int64_t level, const std::vector<PassSwitch>& switches) {
  auto state = [&](const passes::PassName& name) -> std::optional<bool> {
    auto found = std::find_if(switches.begin(), switches.end(), [&](const PassSwitch& s) { return s.pass == name.text; });
    return found == switches.end() ? std::nullopt : found->on;
  };
  auto is_off = [&](const passes::PassName& name) { return state(name) == false; };
  auto is_on = [&](const passes::PassName& name) { return state(name) == true; };
  for (passes::Stage& stage : pipeline.stages) {
    if (stage.from_level <= level) {
      std::erase_if(stage.passes, is_off);
      continue;
    }
    bool any = std::any_of(stage.passes.begin(), stage.passes.end(), is_on);
    std::erase_if(stage.passes,
                  [&](const passes::PassName& name) { return !is_on(name) && !(any && name.text == "dead-code-elimination"); });
    stage.from_level = level;
  }
  std::erase_if(pipeline.stages, [](const passes::Stage& stage) { return stage.passes.empty(); });
  return pipeline;
}

bool contains(const passes::Pipeline& pipeline, std::string_view pass) {
  return std::any_of(pipeline.stages.begin(), pipeline.stages.end(), [&](const passes::Stage& stage) {
    return std::any_of(stage.passes.begin(), stage.passes.end(), [&](const passes::PassName& name) { return name.text == pass; });
  });
}

}  // namespace buda::compiler
