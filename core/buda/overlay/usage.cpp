// SPDX-License-Identifier: Apache-2.0
// Adds up what the cores of stream programs use.
#include <buda/overlay/usage.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/diag/parallel_results.hpp>
#include <buda/overlay/l1/l1_map.hpp>

#include <algorithm>
#include <map>

namespace buda::overlay {
namespace {

std::string l1_name(const Stream& s) {
  switch (s.kind) {
    case StreamKind::input:
      return cat("input ", s.operand);
    case StreamKind::output:
      return s.operand == pipes::kOutputOperand ? "output" : cat("output ", s.operand);
    case StreamKind::intermediate:
      return cat("intermediate ", s.operand);
    case StreamKind::multicast:
      return cat("multicast of input ", s.operand);
    default:
      return cat(stream_kind_name(s.kind), " (stream ", s.number, ")");
  }
}

// Pieces by address: what shares memory is one piece.
std::vector<L1Piece> pieces_of(const Core& core, const device::L1Map& l1) {
  std::map<std::uint64_t, L1Piece> pieces;
  for (std::size_t i = 1; i < core.headers.size(); ++i)
    pieces[core.headers[i].address] = {core.headers[i].address, l1.tile_headers_bytes,
                                       cat("headers of ", core.headers[i].tile_bytes, " B")};
  for (const Stream& s : core.streams) {
    if (s.fork_of >= 0) continue;
    auto [it, fresh] = pieces.try_emplace(s.address, L1Piece{s.address, s.bytes, l1_name(s)});
    if (fresh) continue;
    it->second.bytes = std::max(it->second.bytes, s.bytes);
    it->second.what += cat(" and ", l1_name(s));
  }
  std::vector<L1Piece> out;
  for (auto& [address, piece] : pieces) out.push_back(std::move(piece));
  return out;
}

// L1 is given out from the end of the operands downwards: headers and buffers, down to the lowest address; then pointers, then what the
// stream program takes beyond the default (l1/allocator.hpp). Buffers may have become smaller since.
std::uint64_t l1_bytes_of(const Blob& blob, const Core& core, const std::vector<L1Piece>& pieces, const device::L1Map& l1,
                          const device::DeviceDescriptor& device) {
  const auto alignment = static_cast<std::uint64_t>(std::max(device.tile_alignment, 1));
  std::int64_t tracked = 0;
  for (const Stream& s : core.streams) tracked += tracked_buffers(s, blob.sender_over_pcie(s) != nullptr);
  const std::uint64_t operands = pieces.empty() ? 0 : l1.operands_end() - std::min(pieces.front().address, l1.operands_end());
  return operands + align_up(tracking_bytes(tracked, device), alignment) + align_up(excess_program_bytes(core.blob_bytes, l1), alignment);
}

std::vector<StreamUsage> kinds_of(const Core& core) {
  std::map<StreamKind, StreamUsage> kinds;
  for (const Stream& s : core.streams) {
    StreamUsage& u = kinds[s.kind];
    u.kind = s.kind;
    ++u.streams;
    u.phases += s.phase_count();
  }
  std::vector<StreamUsage> out;
  for (const auto& [kind, u] : kinds) out.push_back(u);
  return out;
}

Result<EpochUsage> predict_epoch(const EpochCompiler& compiler, const pipes::Epoch& epoch) {
  BUDA_ASSIGN(pipes::PipeGraph graph, compiler.pipes(epoch));
  BUDA_ASSIGN(Blob blob, compiler.streams(graph));
  return EpochUsage{epoch.number, usage_of(blob, compiler.device(), compiler.cluster().eth_core), traffic_of(blob, compiler.device()),
                    flows_of(blob, compiler.device())};
}

}  // namespace

std::optional<Diagnostic> missing_description(const device::DeviceDescriptor& device) {
  const auto& s = device.streams;
  std::string missing;
  if (s.first_output <= 0 || s.first_extra <= 0 || s.max_tiles_per_phase <= 0 || s.bytes_per_phase <= 0)
    missing = "streams: first_input, first_output, first_intermediate, first_extra, max_tiles_per_phase and bytes_per_phase";
  if (device.noc_address_bits <= 0) missing = "noc_address_bits";
  if (missing.empty()) return std::nullopt;
  return input_error("OV003", {}, cat("device '", device.name, "' does not say ", missing, ", which stream programs need"));
}

std::vector<CoreUsage> usage_of(const Blob& blob, const device::DeviceDescriptor& device, const device::EthCore& eth_core) {
  std::vector<CoreUsage> out;
  for (const Core& core : blob.cores) {
    const device::L1Map l1 = l1_map_of(core, device, eth_core);
    CoreUsage u;
    u.chip = core.chip;
    u.core = core.core;
    u.ethernet = core.ethernet;
    u.op = core.op;
    u.l1 = pieces_of(core, l1);
    u.l1_bytes = l1_bytes_of(blob, core, u.l1, l1, device);
    u.l1_available = l1.operand_bytes();
    u.streams = static_cast<std::int64_t>(core.streams.size());
    u.streams_available = core.ethernet ? eth_core.streams : device.streams.per_core;
    u.phases = core.phases();
    u.phases_available = core.blob_bytes / std::max(device.streams.bytes_per_phase, 1);
    u.by_kind = kinds_of(core);
    out.push_back(std::move(u));
  }
  return out;
}

Result<std::vector<EpochUsage>> predict_usage(const EpochCompiler& compiler, unsigned threads) {
  const std::vector<pipes::Epoch>& epochs = compiler.epochs();
  return parallel_results(threads, epochs.size(), [&](std::size_t i) { return predict_epoch(compiler, epochs[i]); });
}

}  // namespace buda::overlay
