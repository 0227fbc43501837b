// SPDX-License-Identifier: Apache-2.0
// Trials of the stages up to the balancer, with one size of --dim after the other.
#include "apps/buda/smaller_batch.hpp"

#include "apps/buda/stages.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/about_model.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/io/process.hpp>
#include <buda/io/temporary_directory.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace buda::driver {
namespace {

constexpr std::string_view kMicrobatch = "--microbatch";

// The --dim that is largest, by its place in the list, and its size; nothing where all are 1.
std::optional<std::pair<std::size_t, std::int64_t>> largest_dim(const std::vector<std::string>& dims) {
  std::optional<std::pair<std::size_t, std::int64_t>> out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto size = parse_int(std::string_view(dims[i]).substr(dims[i].rfind('=') + 1));
    if (size && *size > 1 && (!out || *size > out->second)) out = {i, *size};
  }
  return out;
}

Options with_batch(Options o, std::size_t dim, std::int64_t batch, std::int64_t microbatch) {
  std::string& text = o.dims[dim];
  text = cat(text.substr(0, text.rfind('=') + 1), batch);
  auto& balancer = o.handed_on["balancer"];
  for (auto at = std::find(balancer.begin(), balancer.end(), kMicrobatch); at != balancer.end();
       at = std::find(balancer.begin(), balancer.end(), kMicrobatch))
    balancer.erase(at, std::next(at, 2));
  balancer.insert(balancer.end(), {std::string(kMicrobatch), cat(microbatch)});
  return o;
}

// Without a word: what was wrong with the user's size has been told.
bool ends_well(std::vector<std::string> argv) {
  argv.insert(argv.begin(), {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/null 2>&1"});
  const auto ended = io::run_process(argv);
  return ended.ok() && ended->exit_code == 0;
}

bool is_placed(const Options& o, cli::ToolHost& host) {
  const auto folder = io::TemporaryDirectory::make(host.temporary_dir, std::string(cli::kTemporaryPrefix));
  if (!folder) return false;
  const BuildFiles files(folder->path(), cli::model_name(o.model));
  return ends_well(importer_command(o, host, files).argv) && ends_well(optimizer_command(o, host, files).argv) &&
         ends_well(balancer_command(o, host, files).argv);
}

}  // namespace

std::string smaller_batch_hint(const Options& options, cli::ToolHost& host) {
  const auto dim = largest_dim(options.dims);
  if (!dim) return "";
  const auto [which, size] = *dim;
  // Small batches one after the other are what the device is fastest with.
  constexpr std::int64_t kMaxMicrobatch = 64;
  for (const std::int64_t batch : {4, 1}) {
    if (batch >= size) continue;
    host.progress("trying smaller batches", 0, 0);
    const std::int64_t microbatch = std::min(kMaxMicrobatch, (size + batch - 1) / batch);
    const Options smaller = with_batch(options, which, batch, microbatch);
    if (!is_placed(smaller, host)) continue;
    return cat(io::shell_line({"--dim", smaller.dims[which]}), ' ', kMicrobatch, ' ', microbatch,
               ": it fits then; 'buda run' divides its inputs into batches of ", batch);
  }
  return "";
}

}  // namespace buda::driver
