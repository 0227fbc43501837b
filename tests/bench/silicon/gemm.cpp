// SPDX-License-Identifier: Apache-2.0
// Blockings of a product on 8x8 cores, each as long as its kernels, its reads and its multicasts take, whichever is longest.
#include "gemm.hpp"

#include <buda/base/text.hpp>
#include <buda/cost/kernel_cycles.hpp>
#include <buda/netlist/model/op.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace buda::silicon {
namespace {

using netlist::Op;

constexpr std::int64_t kSide = 8, kTile = 32;
constexpr double kInterfaceRate = 28.1;  // bytes per cycle, as in the simulator
constexpr double kPercentAllowed = 25;

std::int64_t tiles_of(std::int64_t length) { return (length + kTile - 1) / kTile; }
std::int64_t parts_of(std::int64_t length, std::int64_t parts) { return (length + parts - 1) / parts; }

// Of one core: `rounds_m` x `rounds_n` blocks of the output, one after the other.
struct Blocking {
  std::int64_t rows = 1, cols = 1, rounds_m = 1, rounds_n = 1;  // tiles of a block, and how many blocks
  std::int64_t ublock_r = 1, ublock_c = 1, u_kt = 1, m_k = 1;
};

Op op_of(const Blocking& b, DataFormat format, netlist::MathFidelity fidelity) {
  Op op;
  op.type = netlist::OpType::matmul;
  op.inputs.resize(2);
  for (auto& in : op.inputs) in.format = format;
  op.out_format = op.intermed_format = format;
  op.fidelity = fidelity;
  op.block = {1, static_cast<std::int32_t>(b.rows / b.ublock_r), static_cast<std::int32_t>(b.cols / b.ublock_c),
              static_cast<std::int32_t>(b.ublock_r), static_cast<std::int32_t>(b.ublock_c)};
  op.attributes.m_k = static_cast<std::int32_t>(b.m_k);
  op.attributes.u_kt = static_cast<std::int32_t>(b.u_kt);
  return op;
}

// The output's block, and both operands' inner blocks twice.
bool fits(const Blocking& b, std::int64_t bytes, const device::DeviceDescriptor& device) {
  const std::int64_t tiles = b.rows * b.cols + 2 * b.u_kt * (b.rows + b.cols);
  return tiles * bytes <= static_cast<std::int64_t>(device.l1.size - device.l1.operands_begin);
}

double cycles_of(const Blocking& b, const Gemm& gemm, DataFormat format, netlist::MathFidelity fidelity,
                 const device::DeviceDescriptor& device) {
  const auto rounds = static_cast<double>(b.rounds_m * b.rounds_n);
  const auto bytes = static_cast<double>(tile_bytes(format));
  const auto inner = static_cast<double>(b.m_k * b.u_kt);
  const double kernel = rounds * cost::kernel_cycles(op_of(b, format, fidelity), nullptr, device).total;
  // Each core receives its rows of the first operand and its columns of the second for each of its blocks.
  const double received = rounds * inner * static_cast<double>(b.rows + b.cols) * bytes;
  // A row of cores reads its rows once per round of columns, a column of cores likewise.
  const double first = static_cast<double>(b.rounds_n * b.rounds_m * b.rows * kSide) * inner * bytes;
  const double second = static_cast<double>(b.rounds_m * b.rounds_n * b.cols * kSide) * inner * bytes;
  const double result = rounds * static_cast<double>(b.rows * b.cols * kSide * kSide) * bytes;
  const double memory = (gemm.memory.starts_with("DRAM") ? first + result : 0) + second;
  const double rate = device.cost.dram_channel_gbs * static_cast<double>(device.dram.channels.size()) / device.cost.clock_ghz;
  return std::max({kernel, received / kInterfaceRate, memory / rate});
}

std::vector<Blocking> blockings(const Gemm& gemm, std::int64_t dest_tiles) {
  const std::int64_t rows = parts_of(tiles_of(gemm.m), kSide), cols = parts_of(tiles_of(gemm.n), kSide), inner = tiles_of(gemm.k);
  std::vector<Blocking> out;
  for (std::int64_t rounds_m = 1; rounds_m <= rows; rounds_m *= 2)
    for (std::int64_t rounds_n = 1; rounds_n <= cols; rounds_n *= 2)
      for (std::int64_t u_kt = 1; u_kt <= 16; u_kt *= 2)
        for (std::int64_t r = 1; r <= dest_tiles; r *= 2)
          for (std::int64_t c = 1; r * c <= dest_tiles; c *= 2) {
            if (rows % rounds_m != 0 || cols % rounds_n != 0 || inner % u_kt != 0) continue;
            const std::int64_t block_r = rows / rounds_m, block_c = cols / rounds_n;
            if (block_r % r != 0 || block_c % c != 0) continue;
            out.push_back({block_r, block_c, rounds_m, rounds_n, r, c, u_kt, inner / u_kt});
          }
  return out;
}

// What the matrix units alone would take.
double least_cycles(const Gemm& g, netlist::MathFidelity fidelity, const device::DeviceDescriptor& device) {
  return static_cast<double>(tiles_of(g.m) * tiles_of(g.k) * tiles_of(g.n)) * device.cost.math_cycles_per_tile *
         netlist::fidelity_phases(fidelity) / static_cast<double>(kSide * kSide);
}

void predict(Gemm& gemm, DataFormat format, netlist::MathFidelity fidelity, const device::DeviceDescriptor& device) {
  double best = 0;
  for (const Blocking& b : blockings(gemm, device.dest.tiles_16bit / 2)) {
    if (!fits(b, tile_bytes(format), device)) continue;
    const double cycles = cycles_of(b, gemm, format, fidelity, device);
    if (best != 0 && cycles >= best) continue;
    best = cycles;
    gemm.blocking =
        cat(b.rounds_m * b.rounds_n, " of ", b.rows, 'x', b.cols, " tiles, ublock ", b.ublock_r, 'x', b.ublock_c, ", u_kt ", b.u_kt);
  }
  gemm.cycles = least_cycles(gemm, fidelity, device) / gemm.measured * 100;
  if (best > 0) gemm.predicted = 100 * least_cycles(gemm, fidelity, device) / best;
}

std::optional<Gemm> parse_row(const std::vector<std::string_view>& cells) {
  if (cells.size() != 10) return std::nullopt;
  auto m = parse_int(cells[0]), k = parse_int(cells[1]), n = parse_int(cells[2]);
  auto measured = parse_double(trim(cells[9]));
  if (!m || !k || !n || !measured || !(*measured > 0)) return std::nullopt;
  return Gemm{*m, *k, *n, std::string(cells[4]), std::string(cells[5]), std::string(cells[3]), *measured, 0, 0, {}};
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t end = line.find(','); end != std::string_view::npos; end = line.find(',')) {
    out.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  out.push_back(line);
  return out;
}

}  // namespace

Result<std::vector<Gemm>> gemms(Host& host, const std::string& file, const device::DeviceDescriptor& device) {
  BUDA_ASSIGN(io::Bytes bytes, host.fs().read(file));
  std::string_view text = bytes.view();
  std::vector<Gemm> out;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#') || line.starts_with("m,")) continue;
    auto row = parse_row(cells_of(line));
    const auto format = row && row->format == "bf16" ? DataFormat::float16_b : DataFormat::bfp8_b;
    const auto fidelity = row ? netlist::fidelity_from_name(row->fidelity) : std::nullopt;
    if (!row || !fidelity) return input_error("SI030", {file, number, 1}, "no product: sizes, fidelity or utilisation are missing");
    predict(*row, format, *fidelity, device);
    out.push_back(std::move(*row));
  }
  return out;
}

double part_within(const std::vector<Gemm>& rows) {
  const auto within = std::count_if(rows.begin(), rows.end(), [](const Gemm& g) { return std::abs(g.error()) <= kPercentAllowed; });
  return rows.empty() ? 1 : static_cast<double>(within) / static_cast<double>(rows.size());
}

std::string gemm_table(const std::vector<Gemm>& rows) {
  std::string out =
      "| m, k, n | format | fidelity | measured % | predicted % | error % | blocking of a core |\n|---|---|---|--:|--:|--:|---|\n";
  for (const Gemm& g : rows) {
    char text[96];
    std::snprintf(text, sizeof text, "%.1f | %.1f | %+.1f", g.measured, g.predicted, g.error());
    out += cat("| ", g.m, ", ", g.k, ", ", g.n, " | ", g.format, " | ", g.fidelity, " | ", text, " | ", g.blocking, " |\n");
  }
  return out;
}

}  // namespace buda::silicon
