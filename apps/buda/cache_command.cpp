// SPDX-License-Identifier: Apache-2.0
// `buda cache`.
#include "apps/buda/cache_command.hpp"

#include <buda/base/text.hpp>
#include <buda/cache/store.hpp>

namespace buda::driver {
namespace {

std::string counted(std::size_t n, std::string_view what) { return cat(n, ' ', what, n == 1 ? "" : "s"); }

std::string size_text(const cache::Size& size) {
  return cat(counted(size.entries, "compilation"), ", ", counted(size.products, "product"), ", ", bytes_text(size.bytes));
}

Result<void> run(const CacheOptions& o, cli::ToolHost& host) {
  constexpr std::string_view kStats = "stats", kClear = "clear";
  if (o.action != kStats && o.action != kClear)
    return usage_error("BD005", cat("'", o.action, "' is not something that can be done with a store; ACTION is stats or clear"));
  if (o.store.empty()) return usage_error("BD005", "option --cache is missing: name the folder of the store");
  if (o.action == kStats) {
    BUDA_ASSIGN(auto size, cache::measure(o.store));
    return host.fs().write(std::string(io::kStdStream), cat(o.store, ": ", size_text(size), '\n'));
  }
  BUDA_ASSIGN(auto gone, cache::shrink(o.store, 0));
  host.log(0, cat(o.store, ": removed ", size_text(gone)));
  return success();
}

}  // namespace

cli::ToolSpec cache_command(CacheOptions& o) {
  cli::ToolSpec spec;
  spec.name = "buda cache";
  spec.summary = "show or empty the store of earlier compilations";
  spec.description =
      "With --cache DIR `buda compile` keeps images in DIR, and takes them from there if the same is asked for again and no file has "
      "changed.";
  spec.reads = "the store.";
  spec.writes = "stats: its size, on standard output; clear: nothing, and the store holds no products any more.";
  spec.example = "buda cache stats --cache ~/.cache/openbuda";
  spec.declare = [&o](cli::OptionSet& set) {
    set.positional("ACTION", o.action, "stats, or clear");
    set.path("cache", o.store, "DIR", "folder of the store");
  };
  spec.run = [&o](cli::ToolHost& host) { return run(o, host); };
  return spec;
}

}  // namespace buda::driver
