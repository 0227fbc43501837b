// SPDX-License-Identifier: Apache-2.0
// Options of targets.
#include <buda/kernels/compile/target_kernels.hpp>

#include <buda/base/text.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace buda::kernels {
namespace {

schema::OptionSpec option(std::string name, schema::OptionType type, std::string summary, std::string value_name) {
  schema::OptionSpec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.summary = std::move(summary);
  spec.value_name = std::move(value_name);
  return spec;
}

// The first of the given options that kernels which are compiled already cannot follow.
std::optional<std::string_view> option_for_compiling(const BuildOptions& build) {
  if (build.compiler != Compiler::any) return "cxx";
  if (build.prints) return "dprint";
  if (build.zones) return "zones";
  if (!build.packages.empty()) return "kernel-path";
  return std::nullopt;
}

}  // namespace

std::vector<schema::OptionSpec> source_options() {
  schema::OptionSpec cxx =
      option("cxx", schema::OptionType::choice, "compiler for kernels; any: gcc, or clang where there is no gcc", "COMPILER");
  cxx.default_text = "any";
  cxx.choices = {"any", "gcc", "clang"};
  schema::OptionSpec packages =
      option("kernel-path", schema::OptionType::path, "folder with a kernel.yaml, of kernels for some ops", "DIR");
  packages.repeatable = true;
  schema::OptionSpec prints = option("dprint", schema::OptionType::flag, "compile DPRINT in kernels, whose lines are printed", "");
  return {option("kernels", schema::OptionType::text,
                 "folder of kernels, from kernelc; without it those of the image, or else they are compiled", "DIR"),
          cxx, option("cache", schema::OptionType::text, "store of compiled kernels", "DIR"), packages, prints};
}

KernelSource source_of(const schema::OptionValues& values) {
  KernelSource source;
  source.folder = values.text("kernels");
  const std::string& cxx = values.text("cxx");
  source.build.compiler = cxx == "gcc" ? Compiler::gcc : cxx == "clang" ? Compiler::clang : Compiler::any;
  source.build.store = values.text("cache");
  source.build.prints = values.flag("dprint");
  source.build.packages = values.texts("kernel-path");
  return source;
}

Result<KernelSet> kernels_for(const netlist::Netlist& netlist, const std::map<std::string, io::Bytes>& in_image, const KernelSource& source,
                              Host& host) {
  if (netlist.arch != "wormhole_b0") {
    Diagnostic d = input_error("KC005", {netlist.file}, cat("kernels are for wormhole_b0, and the netlist is for ", netlist.arch));
    d.hint = "--target golden --set target.golden.mode=bits";
    return d;
  }
  if (!source.folder.empty()) {
    const auto ignored = option_for_compiling(source.build);
    if (!ignored) return read_kernels(source.folder, host);
    return usage_error("KC013",
                       cat("option '", *ignored, "' is for kernels that are compiled, and option 'kernels' names compiled ones, in '",
                           source.folder, "': leave out one of the two"));
  }
  if (!in_image.empty() && source.build.packages.empty() && !source.build.prints && !source.build.zones)
    return read_kernels(in_image, "the image's kernels");
  return build_kernels(netlist, source.build, host);
}

}  // namespace buda::kernels
