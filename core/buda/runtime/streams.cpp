// SPDX-License-Identifier: Apache-2.0
// Blobs by epoch.
#include <buda/runtime/streams.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/netlist/program/temporal_epochs.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/blob/blob_of_netlist.hpp>
#include <buda/overlay/blob/blob_places.hpp>
#include <buda/overlay/epoch_compiler.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace buda::runtime {
namespace {

constexpr std::string_view kEpochFolder = "temporal_epoch_";
constexpr std::string_view kBlobFile = "/overlay/blob.json";

std::string blob_file(std::size_t epoch) { return cat(kEpochFolder, epoch, kBlobFile); }
bool is_blob(const std::string& name) { return name.starts_with(kEpochFolder) && name.ends_with(kBlobFile); }

Diagnostic wrong_epoch(const std::string& file, std::string message) {
  Diagnostic d = input_error("RT041", {file}, std::move(message));
  d.hint = "make the stream programs from this netlist: netlist2pipe --format json, then pipegen for each epoch";
  return d;
}

// Every temporal epoch of the netlist, without stream programs yet.
Result<std::vector<EpochStreams>> epochs_of(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  BUDA_ASSIGN(auto temporal, netlist::temporal_epochs(netlist, device.features.op_to_op_across_graphs));
  std::vector<EpochStreams> out;
  for (auto& t : temporal) {
    std::sort(t.graphs.begin(), t.graphs.end());
    out.push_back({static_cast<std::int32_t>(out.size()), std::move(t.graphs), nullptr});
  }
  return out;
}

// A failure of any, else success.
Result<void> gathered(std::vector<Result<void>> results) {
  Failure failure;
  for (auto& r : results)
    if (!r) failure.add(std::move(r).failure());
  if (!failure.empty()) return failure;
  return success();
}

Result<void> read_blob(const pipes::NetlistIndex& index, const Products& products, const device::DeviceDescriptor& device,
                       EpochStreams& epoch) {
  const netlist::Netlist& netlist = index.netlist();
  const std::string name = blob_file(static_cast<std::size_t>(epoch.number)), file = cat(products.where, ':', name);
  auto found = products.files.find(name);
  if (found == products.files.end()) return wrong_epoch(file, cat("the stream program of temporal epoch ", epoch.number, " is missing"));
  BUDA_ASSIGN(auto blob, overlay::parse_blob(found->second.view(), file));
  std::vector<std::string> graphs;
  for (std::size_t g : epoch.graphs) graphs.push_back(netlist.graphs[g].name);
  if (blob.graphs != graphs)
    return wrong_epoch(file, cat("it is of graphs ", join(blob.graphs, ", "), "; temporal epoch ", epoch.number, " of the netlist has ",
                                 join(graphs, ", ")));
  if (blob.arch != netlist.arch) return wrong_epoch(file, cat("it is for ", blob.arch, ", and the netlist is for ", netlist.arch));
  BUDA_TRY(overlay::check_places(blob, device, file));
  if (std::string difference = overlay::difference_from(blob, index, epoch.graphs); !difference.empty())
    return wrong_epoch(file, std::move(difference));
  epoch.blob = std::make_shared<const overlay::Blob>(std::move(blob));
  return success();
}

Result<std::vector<EpochStreams>> read_streams(const netlist::Netlist& netlist, const Products& products,
                                               const device::DeviceDescriptor& device, unsigned threads) {
  BUDA_ASSIGN(auto epochs, epochs_of(netlist, device));
  for (const auto& [name, bytes] : products.files) {
    if (!is_blob(name)) continue;
    const bool known = std::any_of(epochs.begin(), epochs.end(),
                                   [&n = name](const auto& e) { return n == blob_file(static_cast<std::size_t>(e.number)); });
    if (!known)
      return wrong_epoch(
          cat(products.where, ':', name),
          cat("the netlist has ", epochs.size(), epochs.size() == 1 ? " temporal epoch" : " temporal epochs", ", and this is of none"));
  }
  const pipes::NetlistIndex index(netlist);
  std::vector<Result<void>> results(epochs.size());
  parallel_for(threads, epochs.size(), [&](std::size_t i) { results[i] = read_blob(index, products, device, epochs[i]); });
  BUDA_TRY(gathered(std::move(results)));
  return epochs;
}

// The image's, or the device's own.
Result<device::Cluster> cluster_of(const Products& products, const device::DeviceDescriptor& device, Host& host) {
  auto found = products.files.find(kClusterProduct);
  if (found == products.files.end()) return device::load_cluster(host, device);
  return device::parse_cluster(found->second.view(), cat(products.where, ':', kClusterProduct), device);
}

Result<std::vector<EpochStreams>> build_streams(const netlist::Netlist& netlist, const Products& products,
                                                const device::DeviceDescriptor& device, Host& host) {
  BUDA_ASSIGN(auto epochs, epochs_of(netlist, device));
  BUDA_ASSIGN(auto cluster, cluster_of(products, device, host));
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::make_for(netlist, device, std::move(cluster)));
  std::vector<Result<void>> results(epochs.size());
  auto build = [&](std::size_t i) -> Result<void> {
    BUDA_ASSIGN(auto pipes, compiler.pipes(compiler.epochs()[i]));
    BUDA_ASSIGN(auto blob, compiler.streams(pipes));
    epochs[i].blob = std::make_shared<const overlay::Blob>(std::move(blob));
    return success();
  };
  parallel_for(host.threads, epochs.size(), [&](std::size_t i) { results[i] = build(i); });
  BUDA_TRY(gathered(std::move(results)));
  return epochs;
}

}  // namespace

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Result<Products> read_products(io::FileSystem& fs, const std::string& folder) {
  Products out;
  out.where = folder;
  BUDA_TRY(io::require_whole(fs, folder));
  BUDA_ASSIGN(auto names, fs.list(folder));
  for (const std::string& name : names) {
    const std::string file = cat(name, kBlobFile), path = cat(folder, '/', file);
    if (!is_blob(file) || !fs.exists(path)) continue;
    BUDA_ASSIGN(auto bytes, fs.read(path));
    out.files.emplace(file, std::move(bytes));
  }
  if (!out.files.empty()) return out;
  Diagnostic d = input_error("RT040", {folder}, cat("the folder has no stream programs: no ", kEpochFolder, "0", kBlobFile));
  d.hint = "netlist2pipe --format json -o DIR makes the folder, and pipegen the stream program of each epoch";
  return d;
}

bool has_streams(const Products& products) {
  return std::any_of(products.files.begin(), products.files.end(), [](const auto& file) { return is_blob(file.first); });
}

Result<void> complete_program(Program& program, const Needs& needs, const Products& products, const device::DeviceDescriptor& device,
                              Host& host) {
  if (needs.kernels)
    for (const auto& [name, bytes] : products.files)
      if (name.starts_with(kKernelProducts)) program.kernels.emplace(name.substr(kKernelProducts.size()), bytes);
  if (!needs.streams || !program.epochs.empty()) return success();
  auto epochs = has_streams(products) ? read_streams(program.netlist, products, device, host.threads)
                                      : build_streams(program.netlist, products, device, host);
  if (!epochs) return std::move(epochs).failure();
  program.epochs = std::move(*epochs);
  return success();
}

}  // namespace buda::runtime
