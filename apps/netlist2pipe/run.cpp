// Reads a netlist, makes the pipes of its epochs side by side, writes them.
#include "apps/netlist2pipe/run.hpp"

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/cli/product_name.hpp>
#include <buda/device/cluster.hpp>
#include <buda/device/label.hpp>
#include <buda/device/load.hpp>
#include <buda/netlist/check/check.hpp>
#include <buda/netlist/check/verdict.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/check/check.hpp>
#include <buda/pipes/format/pipegen_file.hpp>
#include <buda/pipes/format/pipes_file.hpp>
#include <buda/pipes/interchip/ethernet_links.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>
#include <buda/pipes/reports/reports.hpp>

#include <algorithm>
#include <optional>

namespace buda::netlist2pipe {
namespace {

using device::DeviceDescriptor;
using netlist::Netlist;

struct Input {
  Netlist netlist;
  DeviceDescriptor device;
  device::Cluster cluster;
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
  if (in.device.chips > 1 || !o.cluster.empty()) {
    BUDA_ASSIGN(in.cluster, device::load_cluster(host, in.device, o.cluster));
    in.device.chips = std::max(in.device.chips, device::chips_of(in.cluster));
    in.cluster.links = pipes::available_links(in.netlist, in.device, in.cluster);
  }
  return in;
}

Result<void> check_rules(const Input& in, Host& host) {
  Failure failure;
  for (Diagnostic& d : netlist::check_netlist(in.netlist, in.device)) {
    if (d.severity == Severity::error) {
      failure.add(std::move(d));
    } else {
      host.report(d);
    }
  }
  if (!failure.empty()) return failure;
  return success();
}

// One epoch's products, or why there are none.
struct Made {
  std::optional<Result<pipes::PipeGraph>> graph;
  pipes::CheckCounts counts;
};

void make_epoch(const pipes::NetlistIndex& index, const Input& in, const pipes::Epoch& epoch, const pipes::PaddingTable& padding,
                bool check, Made& out) {
  out.graph = pipes::build_pipes(index, in.device, epoch, padding, in.cluster);
  if (*out.graph) (**out.graph).device = in.made_for;
  if (!check || !*out.graph) return;
  auto checked = pipes::check_pipes(index, in.device, epoch, padding, **out.graph, in.cluster);
  if (checked) {
    out.counts = *checked;
    return;
  }
  // The pipes are ours, so whatever the checker finds is our fault.
  Failure failure = std::move(checked).failure();
  for (Diagnostic& d : failure.diagnostics()) d.fault = Fault::bug;
  out.graph = Result<pipes::PipeGraph>(std::move(failure));
}

class Writer {
 public:
  Writer(Options& options, Host& host) : options_(options), host_(host) {}
  Result<void> write(const std::string& name, std::string_view text) {
    std::string path = cat(options_.output, '/', name);
    return host_.fs().write(path, text, host_.write_mode);
  }
  Result<void> write_graph(const std::string& path, const pipes::PipeGraph& graph) {
    BUDA_ASSIGN(auto file, host_.fs().create(path, host_.write_mode));
    BUDA_TRY(options_.is_compact() ? pipes::write_pipes(graph, *file) : pipes::write_pipegen(graph, *file));
    BUDA_TRY(file->commit());
    options_.products.push_back(path);
    return success();
  }
  Result<void> write_epoch(const pipes::NetlistIndex& index, const DeviceDescriptor& device, std::int32_t number,
                           const pipes::PipeGraph& graph) {
    std::string folder = cat("temporal_epoch_", number, "/overlay");
    BUDA_TRY(host_.fs().make_directories(cat(options_.output, '/', folder)));
    // The other files are for TT-Buda's runtime, which does not read this form.
    if (options_.is_compact()) return write_graph(cat(options_.output, '/', folder, "/pipes.json"), graph);
    BUDA_TRY(write_graph(cat(options_.output, '/', folder, "/pipegen.yaml"), graph));
    BUDA_TRY(write(folder + "/queue_to_consumer.yaml", pipes::queue_to_consumer_text(index, device, graph)));
    BUDA_TRY(write(folder + "/queue_to_producer.yaml", pipes::queue_to_producer_text(index, device, graph)));
    return write(cat("reports/op_to_pipe_map_temporal_epoch_", number, ".yaml"), pipes::op_to_pipe_text(index, device, graph));
  }

 private:
  Options& options_;
  Host& host_;
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
  BUDA_ASSIGN(Input in, read_input(o, host));
  // The netlist of a model that the host runs as a whole has nothing in it.
  const bool is_empty = in.netlist.queues.empty() && in.netlist.graphs.empty() && in.netlist.programs.empty();
  if (!is_empty) BUDA_TRY(check_rules(in, host));
  pipes::NetlistIndex index(in.netlist);
  BUDA_ASSIGN(auto all, pipes::epochs_of(in.netlist, in.device));
  BUDA_ASSIGN(auto padding, pipes::PaddingTable::make(in.netlist, all, in.device.tile_alignment));
  if (all.empty() && !is_empty)
    host.report(warning("PP041", {in.netlist.file, 0, 0}, "no program of the netlist executes a graph, so there are no pipes"));
  BUDA_ASSIGN(auto epochs, chosen_epochs(o, std::move(all)));

  std::vector<Made> made(epochs.size());
  parallel_for(host.threads, epochs.size(), [&](std::size_t i) { make_epoch(index, in, epochs[i], padding, o.check, made[i]); });
  Failure failure;
  for (Made& m : made)
    if (!*m.graph) failure.add(std::move(*m.graph).failure());
  if (!failure.empty()) return failure;

  Writer writer(o, host);
  pipes::CheckCounts counts;
  if (o.output == io::kStdStream) {
    BUDA_TRY(writer.write_graph(o.output, **made.front().graph));
  } else {
    BUDA_TRY(host.fs().make_directories(o.is_compact() ? o.output : cat(o.output, "/reports")));
    BUDA_TRY(writer.write("netlist_queues.yaml", pipes::netlist_queues_text(index, in.device)));
    BUDA_TRY(writer.write("padding_table.yaml", pipes::padding_table_text(padding)));
    // A depfile's rule is for something.
    if (epochs.empty()) o.products.push_back(cat(o.output, "/netlist_queues.yaml"));
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      host.progress("writing epochs", i, epochs.size());
      BUDA_TRY(writer.write_epoch(index, in.device, epochs[i].number, **made[i].graph));
    }
  }
  std::size_t buffers = 0, pipe_count = 0;
  for (const Made& m : made) {
    buffers += (**m.graph).buffers.size();
    pipe_count += (**m.graph).pipes.size();
    counts.buffers += m.counts.buffers;
    counts.tiles += m.counts.tiles;
  }
  host.log(1, cat(epochs.size(), " epochs: ", buffers, " buffers, ", pipe_count, " pipes"));
  if (o.check) host.log(1, cat("checked ", counts.buffers, " buffers, ", counts.tiles, " tiles"));
  return success();
}

}  // namespace buda::netlist2pipe
