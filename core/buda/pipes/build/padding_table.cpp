// SPDX-License-Identifier: Apache-2.0
// Collects the constants.
#include <buda/pipes/build/padding_table.hpp>

#include <buda/base/text.hpp>

#include <bit>
#include <map>
#include <optional>
#include <utility>

namespace buda::pipes {

Result<PaddingTable> PaddingTable::make(const netlist::Netlist& netlist, const std::vector<Epoch>& epochs, std::int32_t tile_alignment) {
  PaddingTable table;
  std::map<std::pair<std::uint8_t, std::uint64_t>, std::uint64_t> known;  // by format and the value's bits
  std::uint64_t next = kAddress;
  for (const Epoch& epoch : epochs)
    for (const auto* graph : epoch.graphs)
      for (const netlist::Op& op : graph->ops)
        for (const auto& input : op.inputs) {
          std::optional<double> value;
          for (const auto& tm : input.maps.tms)
            if (tm.kind == netlist::TmKind::pad) value = tm.pad_value;
          if (input.maps.pad) value = input.maps.pad->value;
          if (!value || !known.emplace(std::pair{format_code(input.format), std::bit_cast<std::uint64_t>(*value)}, next).second) continue;
          next += static_cast<std::uint64_t>(tile_bytes(input.format, {}, tile_alignment)) * kTiles;
          if (next <= kAddress + kBytes) continue;
          Diagnostic d = does_not_fit("PP032", op.name, "padding area", next - kAddress, kBytes,
                                      cat("op '", op.name, "': the constants that inputs are padded with take ",
                                          bytes_text(next - kAddress), " in each DRAM bank; there are ", bytes_text(kBytes)),
                                      "use fewer different pad values and formats");
          d.loc = netlist.loc(op.places.self);
          return d;
        }
  for (const auto& [key, address] : known)
    table.entries_.push_back({static_cast<DataFormat>(key.first), std::bit_cast<double>(key.second), address});
  return table;
}

std::uint64_t PaddingTable::address(DataFormat format, double value) const {
  for (const Entry& e : entries_)
    if (e.format == format && std::bit_cast<std::uint64_t>(e.value) == std::bit_cast<std::uint64_t>(value)) return e.address;
  return kAddress;
}

}  // namespace buda::pipes
