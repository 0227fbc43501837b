// SPDX-License-Identifier: Apache-2.0
// Finding options without effect. An option counts as given when its value is not the default.
#include <buda/compiler/idle_options.hpp>

#include <buda/base/text.hpp>
#include <buda/compiler/mark_ops.hpp>

#include <string>
#include <string_view>

namespace buda::compiler {
namespace {

class Finder {
 public:
  Finder(const OptimizerOptions& options, const passes::Pipeline& pipeline) : o_(options), pipeline_(pipeline) {}

  void host_part() {
    constexpr std::string_view kOff = "with --enable-cpu-fallback=false nothing runs on the host";
    bool names_ops = o_.cpu_fallback_ops != defaults_.cpu_fallback_ops && !names_in(o_.cpu_fallback_ops).empty();
    if (!o_.cpu_fallback) {
      find(o_.tm_cpu_fallback, "enable-tm-cpu-fallback", kOff);
      find(names_ops, "cpu-fallback-ops", kOff);
      find(!o_.cpu_fallback_nodes.empty(), "cpu-fallback-nodes", kOff);
    }
    if (!o_.tm_cpu_fallback)
      find(o_.tm_cpu_fallback_max_depth != defaults_.tm_cpu_fallback_max_depth, "tm-cpu-fallback-max-depth",
           "it needs --enable-tm-cpu-fallback");
  }

  void pools() {
    if (!o_.pool_surround)
      find(o_.pool_surround_value != defaults_.pool_surround_value, "max-pool-add-sub-surround-value",
           "it needs --max-pool-add-sub-surround");
    else
      find(o_.pool_surround_value == 0, "max-pool-add-sub-surround", "its value is 0");
  }

  void fusing() {
    if (!contains(pipeline_, "fuse-ops") && !contains(pipeline_, "fuse-shifts"))
      find(!o_.dont_fuse.empty(), "op-names-dont-fuse", "no ops are fused; -O2 or --enable-auto-fusing fuse them");
  }

  void missing_passes(const std::vector<PassSwitch>& switches) {
    for (const PassSwitch& s : switches)
      if (!contains(pipeline_, s.pass)) find(s.on == true, s.option, cat("pass ", s.pass, " is not in the pipeline"));
  }

  std::vector<Diagnostic> take() { return std::move(found_); }

 private:
  void find(bool given, std::string_view option, std::string_view why) {
    if (given) found_.push_back(warning("OZ009", {}, cat("option --", option, " has no effect: ", why)));
  }

  const OptimizerOptions& o_;
  const OptimizerOptions defaults_;
  const passes::Pipeline& pipeline_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> idle_options(const OptimizerOptions& options, const std::vector<PassSwitch>& switches,
                                     const passes::Pipeline& pipeline) {
  Finder finder(options, pipeline);
  finder.host_part();
  finder.pools();
  finder.fusing();
  finder.missing_passes(switches);
  return finder.take();
}

}  // namespace buda::compiler
