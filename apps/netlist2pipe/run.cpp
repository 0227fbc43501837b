// SPDX-License-Identifier: Apache-2.0
// Reads a netlist, makes the pipes of its epochs side by side, writes them.
#include "apps/netlist2pipe/run.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/device/label.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/parallel_results.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/overlay/epoch_compiler.hpp>
#include <buda/pipes/format/pipegen_file.hpp>
#include <buda/pipes/format/pipes_file.hpp>
#include <buda/pipes/reports/reports.hpp>

#include <algorithm>
#include <mutex>
#include <optional>

namespace buda::netlist2pipe {
namespace {

using device::DeviceDescriptor;
using netlist::Netlist;

struct Input {
  Netlist netlist;
  DeviceDescriptor device;
  std::string made_for;  // what the pipes say of the device
};

// The device decides the architecture, or the other way round.
Result<Input> read_input(const Options& o, Host& host) {
  Input in;
  std::string arch = o.arch;
  if (!o.device.empty()) {
    BUDA_ASSIGN(in.device, device::load_device(host, o.device));
    in.made_for = device::device_label(o.device);
    if (arch.empty()) arch = in.device.arch;
  }
  BUDA_ASSIGN(auto bytes, host.fs().read(o.netlist));
  BUDA_ASSIGN(in.netlist, netlist::parse_netlist(bytes.view(), o.netlist == io::kStdStream ? "<stdin>" : o.netlist, {arch}));
  if (o.device.empty()) {
    BUDA_ASSIGN(in.device, device::load_device(host, in.netlist.arch));
    in.device.chips = std::max(in.device.chips, netlist::chips_used(in.netlist));
    in.made_for = in.netlist.arch;
  } else if (in.netlist.arch != in.device.arch) {
    return usage_error("PP040", cat("the netlist is for ", in.netlist.arch, ", and device '", in.device.name, "' is a ", in.device.arch));
  }
  return in;
}

// One epoch's products.
struct EpochPipes {
  pipes::PipeGraph graph;
  pipes::CheckCounts counts;
};

Result<EpochPipes> make_epoch(const overlay::EpochCompiler& compiler, const pipes::Epoch& epoch, bool check) {
  EpochPipes out;
  BUDA_ASSIGN(out.graph, compiler.pipes(epoch));
  if (!check) return out;
  auto counts = compiler.check(epoch, out.graph);
  if (counts) {
    out.counts = *counts;
    return out;
  }
  // The pipes are ours, so whatever the checker finds is our fault.
  for (Diagnostic& d : counts.failure().diagnostics()) d.fault = Fault::bug;
  return std::move(counts).failure();
}

Result<void> put_graph(const Options& o, const pipes::PipeGraph& graph, io::OutputFile& file) {
  BUDA_TRY(o.is_compact() ? pipes::write_pipes(graph, file) : pipes::write_pipegen(graph, file));
  return file.commit();
}

class Writer {
 public:
  Writer(Options& options, io::FolderProduct& folder) : options_(options), folder_(folder) {}
  Result<void> write(const std::string& name, std::string_view text) { return folder_.write(name, text); }
  Result<void> write_graph(const std::string& name, const pipes::PipeGraph& graph) {
    BUDA_ASSIGN(auto file, folder_.create(name));
    BUDA_TRY(put_graph(options_, graph, *file));
    options_.products.push_back(cat(options_.output, '/', name));
    return success();
  }
  Result<void> write_epoch(const pipes::NetlistIndex& index, const DeviceDescriptor& device, std::int32_t number,
                           const pipes::PipeGraph& graph) {
    std::string folder = cat("temporal_epoch_", number, "/overlay");
    // The other files are for TT-Buda's runtime, which does not read this form.
    if (options_.is_compact()) return write_graph(folder + "/pipes.json", graph);
    BUDA_TRY(write_graph(folder + "/pipegen.yaml", graph));
    BUDA_TRY(write(folder + "/queue_to_consumer.yaml", pipes::queue_to_consumer_text(index, device, graph)));
    BUDA_TRY(write(folder + "/queue_to_producer.yaml", pipes::queue_to_producer_text(index, device, graph)));
    return write(cat("reports/op_to_pipe_map_temporal_epoch_", number, ".yaml"), pipes::op_to_pipe_text(index, device, graph));
  }

 private:
  Options& options_;
  io::FolderProduct& folder_;
};

Result<std::vector<pipes::Epoch>> chosen_epochs(const Options& o, std::vector<pipes::Epoch> all) {
  auto count = static_cast<std::int64_t>(all.size());
  if (o.epoch >= count)
    return usage_error("PP042", cat("option --epoch: the netlist has ", count, count == 1 ? " epoch" : " epochs",
                                    ", counted from 0; there is no ", o.epoch));
  if (o.epoch >= 0) return std::vector<pipes::Epoch>{std::move(all[static_cast<std::size_t>(o.epoch)])};
  if (o.output == io::kStdStream && count != 1)
    return usage_error("PP042", cat("-o - writes one epoch, and the netlist has ", count, count > 1 ? "; choose one with --epoch" : ""));
  return all;
}

}  // namespace

Result<void> run(Options& o, Host& host) {
  o.output = cli::product_path(o.output, o.netlist, ".pipes");
  host.progress("reading the netlist", 0, 0);
  BUDA_ASSIGN(Input in, read_input(o, host));
  BUDA_ASSIGN(auto compiler, overlay::EpochCompiler::check_and_make(in.netlist, in.device, o.cluster, host, in.made_for));
  const bool is_empty = in.netlist.queues.empty() && in.netlist.graphs.empty() && in.netlist.programs.empty();
  if (compiler.epochs().empty() && !is_empty)
    host.report(warning("PP041", {in.netlist.file, 0, 0}, "no program of the netlist executes a graph, so there are no pipes"));
  BUDA_ASSIGN(auto epochs, chosen_epochs(o, compiler.epochs()));
  std::mutex telling;
  std::size_t ended = 0;
  host.progress("making pipes", 0, epochs.size());
  BUDA_ASSIGN(auto made, parallel_results(host.threads, epochs.size(), [&](std::size_t i) {
                auto epoch = make_epoch(compiler, epochs[i], o.check);
                const std::lock_guard lock(telling);
                host.progress("making pipes", ++ended, epochs.size());
                return epoch;
              }));

  pipes::CheckCounts counts;
  if (o.output == io::kStdStream) {
    BUDA_ASSIGN(auto file, host.fs().create(o.output));
    BUDA_TRY(put_graph(o, made.front().graph, *file));
    o.products.push_back(o.output);
  } else {
    BUDA_ASSIGN(auto folder, io::FolderProduct::begin(host.fs(), o.output, {.entry = "", .adds = o.epoch >= 0, .mode = host.write_mode}));
    Writer writer(o, *folder);
    BUDA_TRY(writer.write("netlist_queues.yaml", pipes::netlist_queues_text(compiler.index(), compiler.device())));
    BUDA_TRY(writer.write("padding_table.yaml", pipes::padding_table_text(compiler.padding())));
    // A depfile's rule is for something.
    if (epochs.empty()) o.products.push_back(cat(o.output, "/netlist_queues.yaml"));
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      host.progress("writing epochs", i, epochs.size());
      BUDA_TRY(writer.write_epoch(compiler.index(), compiler.device(), epochs[i].number, made[i].graph));
    }
    BUDA_TRY(folder->commit());
  }
  std::size_t buffers = 0, pipe_count = 0;
  for (const EpochPipes& m : made) {
    buffers += m.graph.buffers.size();
    pipe_count += m.graph.pipes.size();
    counts.buffers += m.counts.buffers;
    counts.tiles += m.counts.tiles;
  }
  host.log(1, cat(epochs.size(), " epochs: ", buffers, " buffers, ", pipe_count, " pipes"));
  if (o.check) host.log(1, cat("checked ", counts.buffers, " buffers, ", counts.tiles, " tiles"));
  return success();
}

}  // namespace buda::netlist2pipe
