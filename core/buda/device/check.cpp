// SPDX-License-Identifier: Apache-2.0
// What a descriptor must fulfil so that nobody behind it has to look again.
#include <buda/device/load.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <bit>

namespace buda::device {
namespace {

constexpr std::int32_t kLargestNoc = 256;

class Checker {
 public:
  Checker(const DeviceDescriptor& device, const SourceLoc& loc) : d_(device), loc_(loc) {}

  std::vector<Diagnostic> run() {
    names();
    grid();
    memories();
    limits();
    costs();
    return std::move(found_);
  }

 private:
  void require(bool fine, std::string_view code, std::string message) {
    if (fine) return;
    Diagnostic d = input_error(std::string(code), loc_, cat("device '", d_.name, "': ", message));
    found_.push_back(std::move(d));
  }

  // The first that is not: where the grid is wrong, hardly one is.
  void all_on_grid(const std::vector<NocCoord>& places, std::string_view code, std::string_view what) {
    auto off = std::find_if(places.begin(), places.end(), [&](NocCoord c) { return !d_.noc.contains(c); });
    if (has_grid_ && off != places.end()) require(false, code, cat(what, ' ', off->text(), " is off the NoC grid"));
  }

  void names() {
    require(!d_.name.empty() && !d_.arch.empty(), "DV010", "'name' and 'arch' are required");
    require(d_.chips >= 1 && d_.chips <= 256, "DV010", cat("'chips' is ", d_.chips, "; it has to be between 1 and 256"));
    for (std::int32_t chip : d_.mmio_chips)
      require(chip >= 0 && chip < d_.chips, "DV010", cat("'mmio_chips' names chip ", chip, " of ", d_.chips));
  }

  bool ascending(const std::vector<std::int32_t>& v, std::int32_t end) {
    for (std::size_t i = 0; i < v.size(); ++i)
      if (v[i] < 0 || v[i] >= end || (i > 0 && v[i] <= v[i - 1])) return false;
    return !v.empty();
  }

  void grid() {
    has_grid_ = d_.noc.x >= 1 && d_.noc.y >= 1 && d_.noc.x <= kLargestNoc && d_.noc.y <= kLargestNoc;
    require(has_grid_, "DV011", cat("the NoC grid is ", d_.noc.x, " x ", d_.noc.y, "; its sides have to be between 1 and ", kLargestNoc));
    if (!has_grid_) return;
    require(ascending(d_.workers.x, d_.noc.x) && ascending(d_.workers.y, d_.noc.y), "DV011",
            "'workers' has to list ascending columns x and rows y inside the NoC grid");
    harvested();
    require(d_.noc_address_bits >= 0 && d_.noc_address_bits <= 52, "DV011", "'noc_address_bits' has to be between 0 and 52");
    if (d_.pcie) require(d_.noc.contains(*d_.pcie), "DV011", cat("pcie at ", d_.pcie->text(), " is off the NoC grid"));
    all_on_grid(d_.eth, "DV011", "ethernet core");
  }

  // Harvested rows were rows of workers: they hold none of what is no worker.
  void harvested() {
    const auto& rows = d_.harvested_y;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int32_t y = rows[i];
      const auto in_row = [y](NocCoord c) { return c.y == y; };
      const std::string row = cat("'harvested_y' has row ", y);
      require(std::count(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i), y) == 0, "DV011", cat(row, " twice"));
      require(y >= 0 && y < d_.noc.y, "DV011", cat(row, "; the NoC grid has rows 0 to ", d_.noc.y - 1));
      require(std::find(d_.workers.y.begin(), d_.workers.y.end(), y) == d_.workers.y.end(), "DV011",
              cat("row ", y, " is both harvested and in use"));
      require(std::none_of(d_.eth.begin(), d_.eth.end(), in_row), "DV011", cat(row, ", which has ethernet cores and no workers"));
    }
  }

  void channels() {
    for (std::size_t i = 0; i < d_.dram.channels.size(); ++i) {
      const DramChannel& channel = d_.dram.channels[i];
      require(!channel.ports.empty(), "DV012", cat("DRAM channel ", i, " has no ports"));
      require(channel.lowest_usable < d_.dram.bank_bytes, "DV012", cat("no byte of DRAM channel ", i, " is usable"));
      all_on_grid(channel.ports, "DV012", "DRAM port");
    }
    if (const auto& w = d_.dram.host_window)
      require(w->channel >= 0 && static_cast<std::size_t>(w->channel) < d_.dram.channels.size() && w->begin <= d_.dram.bank_bytes &&
                  w->size <= d_.dram.bank_bytes - w->begin,
              "DV012", "'host_window' is not inside a channel");
  }

  void memories() {
    const bool has_dram = !d_.dram.channels.empty() && d_.dram.bank_bytes > 0;
    require(has_dram, "DV012", "'dram' needs channels and bank_bytes");
    if (has_dram) channels();
    require(d_.host.channels >= 0 && d_.host.channels <= 256, "DV012", "'host' has to have between 0 and 256 channels");
    for (std::uint64_t reserved : d_.host.reserved_bytes)
      require(reserved <= d_.host.channel_bytes, "DV012", "a host channel's reserved bytes exceed it");
    require(d_.l1.operands_begin < d_.l1.operands_end(), "DV013", "'l1' leaves no room for operands");
    require(d_.l1.tile_headers <= d_.l1.operands_begin && d_.l1.tile_headers_bytes <= d_.l1.size, "DV013",
            "the tile headers do not fit where 'l1' puts them");
    require(d_.l1.overlay_blob_default <= d_.l1.size && d_.l1.overlay_blob_included <= d_.l1.operands_begin, "DV013",
            "the overlay blob does not fit where 'l1' puts it");
  }

  void limits() {
    require(d_.tile_alignment >= 1 && d_.tile_alignment <= 4096 && std::has_single_bit(static_cast<std::uint32_t>(d_.tile_alignment)),
            "DV014", "'tile_alignment' has to be a power of two up to 4096");
    require(d_.queue_header_bytes >= 1 && d_.queue_header_bytes <= 4096, "DV014", "'queue_header_bytes' has to be between 1 and 4096");
    require(d_.dest.tiles_16bit >= 1 && d_.dest.tiles_32bit >= 1, "DV014", "'dest' needs tiles_16bit and tiles_32bit");
    require(!d_.formats.empty(), "DV014", "'formats' is empty");
    const auto& s = d_.streams;
    require(s.per_core >= 1 && s.max_fan_out >= 1, "DV014", "'streams' needs per_core and max_fan_out");
    const bool is_ordered = s.first_input >= 0 && s.first_input <= s.first_output && s.first_output <= s.first_intermediate &&
                            s.first_intermediate <= s.first_extra && s.first_extra <= s.per_core && s.per_core <= 1024;
    require(is_ordered || s.per_core < 1, "DV014",
            "'streams' has to have first_input <= first_output <= first_intermediate <= first_extra <= per_core <= 1024");
    for (std::int32_t stream : s.special_inputs)
      require(stream >= 0 && stream < s.first_input, "DV014",
              cat("'special_inputs' has stream ", stream, "; it must be below first_input"));
    require(d_.cost.clock_ghz > 0 && d_.cost.noc_bytes_per_cycle > 0 && d_.cost.dram_channel_gbs > 0, "DV014",
            "'cost' needs clock_ghz, noc_bytes_per_cycle and dram_channel_gbs above 0");
    const TransferParameters& t = d_.cost.transfers;
    require(t.link_rate > 0 && t.interface_rate > 0 && t.stream_share > 0 && t.shared_stream_share > 0 && t.network_relief > 0 &&
                t.links_of_queues > 0,
            "DV014",
            "'cost.transfers' needs link_rate, interface_rate, stream_share, shared_stream_share, network_relief and links_of_queues above "
            "0; 'base: n150' has them");
    for (const double cycles : {t.latency_cycles, t.hop_cycles, t.memory_cycles, t.ethernet_cycles, t.pcie_cycles, t.epoch_switch_cycles,
                                t.kernel_bytes, t.epoch_start_cycles})
      require(cycles >= 0, "DV014", cat("'cost.transfers' has ", cycles, "; cycles and bytes are at least 0"));
  }

  void costs() {
    for (const auto& row : d_.cost.kernels) origin(row.origin, cat("kernels: ", row.op));
    for (const auto& row : d_.cost.accumulations) origin(row.origin, cat("accumulations: ", row.op));
    for (const auto& row : d_.cost.matmuls) origin(row.origin, "matmuls");
    for (const auto& row : d_.cost.sparse_matmuls) origin(row.origin, "sparse_matmuls");
  }

  void origin(const CostOrigin& origin, const std::string& row) {
    require(!origin.source.empty(), "DV015", cat("the cost in '", row, "' has an empty source"));
    require(origin.rows >= 0 && origin.measured() == origin.error.has_value(), "DV015",
            cat("the cost in '", row, "' has to have 'error' where 'rows' is above 0, and only there"));
  }

  const DeviceDescriptor& d_;
  const SourceLoc& loc_;
  bool has_grid_ = false;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> check_device(const DeviceDescriptor& device, const SourceLoc& loc) { return Checker(device, loc).run(); }

}  // namespace buda::device
