// SPDX-License-Identifier: Apache-2.0
// What each key of a device file means. Everything is optional here: a file may start from another one; load.cpp checks the result.
#include <buda/device/format.hpp>

#include <buda/base/text.hpp>

namespace buda::schema {

void Codec<DataFormat>::read(const io::Node& node, DataFormat& out, Reader& reader) {
  auto text = node.as_string();
  if (!text) return reader.error(std::move(text).failure());
  auto format = format_from_name(*text);
  if (format) {
    out = *format;
    return;
  }
  for (Diagnostic& d : format.failure().diagnostics()) d.loc = node.loc();
  reader.error(std::move(format).failure());
}

io::Node Codec<DataFormat>::write(DataFormat value) { return io::Node::string(std::string(format_name(value))); }

io::Node Codec<DataFormat>::json_schema() {
  std::vector<std::string> names;
  for (DataFormat f : netlist_formats()) names.emplace_back(format_name(f));
  return detail::enum_schema(names);
}

void Codec<device::NocCoord>::read(const io::Node& node, device::NocCoord& out, Reader& reader) {
  auto parts = split(node.text(), '-');
  auto x = parts.size() == 2 ? parse_uint(parts[0]) : std::nullopt;
  auto y = parts.size() == 2 ? parse_uint(parts[1]) : std::nullopt;
  if (!node.is_string() || !x || !y || *x > 1000 || *y > 1000) {
    reader.error(
        io::node_error("DV001", node, cat("expected a place on the NoC grid such as 3-11 (column 3, row 11), found ", node.describe())));
    return;
  }
  out = {static_cast<std::int32_t>(*x), static_cast<std::int32_t>(*y)};
}

io::Node Codec<device::NocCoord>::write(device::NocCoord value) { return io::Node::string(value.text()); }

io::Node Codec<device::NocCoord>::json_schema() {
  return io::Node::map({{"type", io::Node::string("string")}, {"pattern", io::Node::string("^[0-9]+-[0-9]+$")}});
}

}  // namespace buda::schema

namespace buda::device {

using schema::Record;

const Record<NocSize>& describe(const NocSize*) {
  static const auto record =
      Record<NocSize>("the size of the NoC grid").required("x", &NocSize::x, "columns").required("y", &NocSize::y, "rows");
  return record;
}

const Record<Workers>& describe(const Workers*) {
  static const auto record = Record<Workers>("the workers in use")
                                 .optional("x", &Workers::x, "NoC columns of the logical columns 0, 1, ..., ascending")
                                 .optional("y", &Workers::y, "NoC rows of the logical rows 0, 1, ..., ascending");
  return record;
}

const Record<DramChannel>& describe(const DramChannel*) {
  static const auto record =
      Record<DramChannel>("a DRAM channel")
          .required("ports", &DramChannel::ports, "places on the NoC, one per sub-channel")
          .optional("lowest_usable", &DramChannel::lowest_usable, "byte address below which the runtime keeps its own data");
  return record;
}

const Record<HostWindow>& describe(const HostWindow*) {
  static const auto record = Record<HostWindow>("the part of DRAM that the host maps")
                                 .required("channel", &HostWindow::channel, "DRAM channel")
                                 .required("begin", &HostWindow::begin, "first byte")
                                 .required("size", &HostWindow::size, "bytes");
  return record;
}

const Record<Dram>& describe(const Dram*) {
  static const auto record = Record<Dram>("the device's DRAM")
                                 .optional("channels", &Dram::channels, "channels in order of their numbers")
                                 .optional("bank_bytes", &Dram::bank_bytes, "capacity of each channel")
                                 .optional("host_window", &Dram::host_window, "what the host reaches without the device's help");
  return record;
}

const Record<HostMemory>& describe(const HostMemory*) {
  static const auto record =
      Record<HostMemory>("host memory that the device reaches")
          .optional("channels", &HostMemory::channels, "number of regions")
          .optional("channel_bytes", &HostMemory::channel_bytes, "size of each")
          .optional("base", &HostMemory::base, "address at which the device sees the first region")
          .optional("reserved_bytes", &HostMemory::reserved_bytes, "per region: bytes at its end that the runtime keeps");
  return record;
}

const Record<L1Map>& describe(const L1Map*) {
  static const auto record =
      Record<L1Map>("the map of a worker's L1")
          .optional("size", &L1Map::size, "bytes")
          .optional("operands_begin", &L1Map::operands_begin, "first byte for operand buffers; firmware, kernels and overlay are below it")
          .optional("overlay_blob_default", &L1Map::overlay_blob_default, "bytes of overlay blob when an op does not say")
          .optional("overlay_blob_included", &L1Map::overlay_blob_included, "bytes of overlay blob that fit below operands_begin")
          .optional("tile_headers", &L1Map::tile_headers, "address of the headers of tiles of one size, below operands_begin")
          .optional("tile_headers_bytes", &L1Map::tile_headers_bytes, "bytes of headers for each further size of tiles on a core")
          .optional("reserved_end", &L1Map::reserved_end, "bytes at the end that are not for operands");
  return record;
}

const Record<DestRegister>& describe(const DestRegister*) {
  static const auto record = Record<DestRegister>("one half of the destination register")
                                 .optional("tiles_16bit", &DestRegister::tiles_16bit, "tiles of values up to 16 bits")
                                 .optional("tiles_32bit", &DestRegister::tiles_32bit, "tiles of Float32 and Int32");
  return record;
}

const Record<Features>& describe(const Features*) {
  static const auto record =
      Record<Features>("what the chip can do")
          .optional("fp32_accumulate", &Features::fp32_accumulate, "acc_df Float32")
          .optional("fp32_copy_needs_fp32", &Features::fp32_copy_needs_fp32,
                    "with acc_df Float32, ops that copy their input into the destination register take Float32 only")
          .optional("int32_accumulate", &Features::int32_accumulate, "acc_df Int32 and integer ops")
          .optional("l1_accumulate", &Features::l1_accumulate, "l1_acc: the packer adds to L1")
          .optional("stochastic_rounding", &Features::stochastic_rounding, "stoch_rnd_mode")
          .optional("small_tiles", &Features::small_tiles, "tile_dim other than 32x32")
          .optional("sfpu_on_pack", &Features::sfpu_on_pack, "sfpu_execution_thread pack")
          .optional("binary_transpose", &Features::binary_transpose, "transpose on input 0 of binary ops")
          .optional("dest_as_operand_1", &Features::dest_as_operand_1, "fused sub-ops may read dest as second operand")
          .optional("gradient_any_op", &Features::gradient_any_op, "gradient_op on more than matmul, multiply, nop, datacopy")
          .optional("kernel_broadcast_blocks", &Features::kernel_broadcast_blocks, "kernel_broadcast of matmuls goes by whole blocks")
          .optional("op_to_op_across_graphs", &Features::op_to_op_across_graphs,
                    "consecutive epochs of different chips become one temporal epoch")
          .optional("dram_sub_channels", &Features::dram_sub_channels, "queues choose DRAM ports")
          .optional("remote_input_queues", &Features::remote_input_queues, "queues of one chip feed ops of another")
          .optional("stream_tile_clearing", &Features::stream_tile_clearing, "streams of kernel inputs free tiles themselves")
          .optional("mixed_exponents_matmul", &Features::mixed_exponents_matmul,
                    "out_df and intermed_df may differ in family when accumulating");
  return record;
}

const Record<StreamLimits>& describe(const StreamLimits*) {
  static const auto record =
      Record<StreamLimits>("limits of the stream hardware")
          .optional("per_core", &StreamLimits::per_core, "streams of a worker")
          .optional("multicast_per_core", &StreamLimits::multicast_per_core, "multicasts that a worker may send")
          .optional("dram_input_per_core", &StreamLimits::dram_input_per_core, "streams that read DRAM")
          .optional("dram_output_per_core", &StreamLimits::dram_output_per_core, "streams that write DRAM")
          .optional("relays_per_core", &StreamLimits::relays_per_core, "relay buffers")
          .optional("max_fan_out", &StreamLimits::max_fan_out, "streams that one producer feeds")
          .optional("max_gather_inputs", &StreamLimits::max_gather_inputs, "sources that one pipe collects from at full speed")
          .optional("max_dram_input_queues", &StreamLimits::max_dram_input_queues, "DRAM buffers that one core reads")
          .optional("max_dram_output_queues", &StreamLimits::max_dram_output_queues, "DRAM buffers that one core writes")
          .optional("max_dram_reads_per_input", &StreamLimits::max_dram_reads_per_input, "entries of one input's DRAM read list")
          .optional("bytes_per_phase", &StreamLimits::bytes_per_phase, "overlay blob bytes per stream phase")
          .optional("max_tiles_per_phase", &StreamLimits::max_tiles_per_phase, "tiles that one phase moves")
          .optional("first_input", &StreamLimits::first_input, "stream of a kernel's input 0, others follow")
          .optional("special_inputs", &StreamLimits::special_inputs, "streams of inputs 0, 1, ... that do not follow from first_input")
          .optional("first_output", &StreamLimits::first_output, "stream of a kernel's first output")
          .optional("first_intermediate", &StreamLimits::first_intermediate, "stream of a kernel's first intermediate buffer")
          .optional("first_extra", &StreamLimits::first_extra, "first stream that is free for anything, to the end");
  return record;
}

const Record<TransferParameters>& describe(const TransferParameters*) {
  static const auto record =
      Record<TransferParameters>("what moving data takes: rates in bytes per cycle, times in cycles")
          .optional("link_rate", &TransferParameters::link_rate, "a NoC link in one direction, in practice")
          .optional("interface_rate", &TransferParameters::interface_rate, "a network interface, in practice")
          .optional("latency_cycles", &TransferParameters::latency_cycles, "request and response, without links")
          .optional("hop_cycles", &TransferParameters::hop_cycles, "each link that either crosses")
          .optional("memory_cycles", &TransferParameters::memory_cycles, "an access to DRAM, beyond the network")
          .optional("ethernet_cycles", &TransferParameters::ethernet_cycles, "an Ethernet link, beyond the network")
          .optional("pcie_cycles", &TransferParameters::pcie_cycles, "a write over PCIe, beyond the network")
          .optional("epoch_switch_cycles", &TransferParameters::epoch_switch_cycles, "from epoch to epoch, without loading")
          .optional("kernel_bytes", &TransferParameters::kernel_bytes, "kernels of a worker, loaded for each epoch")
          .optional("epoch_start_cycles", &TransferParameters::epoch_start_cycles,
                    "an epoch beyond its estimate, when stages of chips are cut")
          .optional("stream_share", &TransferParameters::stream_share, "part of a link's rate that a stream gets alone")
          .optional("shared_stream_share", &TransferParameters::shared_stream_share, "part that it gets next to others")
          .optional("network_relief", &TransferParameters::network_relief, "factor by which the choice between two networks relieves links")
          .optional("links_of_queues", &TransferParameters::links_of_queues, "links that carry what queues of a channel give");
  return record;
}

const Record<CostParameters>& describe(const CostParameters*) {
  static const auto record =
      Record<CostParameters>("parameters of the estimators")
          .optional("clock_ghz", &CostParameters::clock_ghz, "AI clock")
          .optional("math_cycles_per_tile", &CostParameters::math_cycles_per_tile, "32x32x32 tile product at LoFi")
          .optional("dram_channel_gbs", &CostParameters::dram_channel_gbs, "measured bandwidth of a DRAM channel, 1e9 bytes per second")
          .optional("host_gbs", &CostParameters::host_gbs, "PCIe from device to host, 1e9 bytes per second")
          .optional("eth_link_gbs", &CostParameters::eth_link_gbs, "one ethernet link, 1e9 bytes per second")
          .optional("noc_bytes_per_cycle", &CostParameters::noc_bytes_per_cycle, "one NoC link in one direction")
          .optional("transfers", &CostParameters::transfers, "what moving data takes")
          .optional("kernels", &CostParameters::kernels, "cycles of elementwise ops, copies, splice, and reductions along r and c")
          .optional("accumulations", &CostParameters::accumulations, "cycles of reductions along z and of depthwise matmuls")
          .optional("matmuls", &CostParameters::matmuls, "cycles of dense matmuls")
          .optional("sparse_matmuls", &CostParameters::sparse_matmuls, "cycles of sparse matmuls");
  return record;
}

const Record<DeviceDescriptor>& describe(const DeviceDescriptor*) {
  using D = DeviceDescriptor;
  static const auto record = Record<D>("a device", {"buda.device", 1})
                                 .optional("base", &D::base, "the device whose values apply to all keys that this file omits")
                                 .optional("name", &D::name, "name of the device")
                                 .optional("summary", &D::summary, "one line for lists of devices")
                                 .optional("arch", &D::arch, "architecture, as netlists name it")
                                 .optional("chips", &D::chips, "chips of this kind on the board")
                                 .optional("mmio_chips", &D::mmio_chips, "chips that the host reaches directly")
                                 .optional("noc", &D::noc, "size of the NoC grid")
                                 .optional("noc_address_bits", &D::noc_address_bits, "bits of an address within a NoC node")
                                 .optional("pcie", &D::pcie, "place on the NoC where host memory is reached")
                                 .optional("workers", &D::workers, "workers left after harvesting")
                                 .optional("harvested_y", &D::harvested_y, "NoC rows whose workers are off")
                                 .optional("eth", &D::eth, "ethernet cores in order of their channels")
                                 .optional("eth_l1_bytes", &D::eth_l1_bytes, "L1 of an ethernet core")
                                 .optional("dram", &D::dram, "DRAM")
                                 .optional("host", &D::host, "host memory")
                                 .optional("l1", &D::l1, "L1 of a worker")
                                 .optional("tile_alignment", &D::tile_alignment, "bytes that tiles and queue addresses are aligned to")
                                 .optional("queue_header_bytes", &D::queue_header_bytes, "bytes in front of a queue's data")
                                 .optional("dest", &D::dest, "destination register")
                                 .optional("features", &D::features, "what the chip can do")
                                 .optional("formats", &D::formats, "data formats of queues and operands")
                                 .optional("streams", &D::streams, "limits of streams")
                                 .optional("cost", &D::cost, "parameters of the estimators");
  return record;
}

}  // namespace buda::device
