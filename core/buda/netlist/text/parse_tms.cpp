// SPDX-License-Identifier: Apache-2.0
// Reads lists of tensor manipulations.
#include <buda/netlist/text/parse_context.hpp>

namespace buda::netlist {
namespace {

const std::vector<std::string> kTmNames = {"broadcast", "hslice", "vslice", "hstack", "vstack", "transpose", "pad", "tile_broadcast"};

// `hslice: {8}`, a map without a value, stands in a few old netlists for `hslice: 8`.
std::optional<std::int32_t> factor(ParseContext& ctx, const io::Node& node, const std::string& tm) {
  if (node.is_map() && node.size() == 1 && node.items()[0].is_null()) {
    if (auto value = parse_int(node.keys()[0]); value && *value >= 1 && *value <= kMaxDimension) return static_cast<std::int32_t>(*value);
  }
  std::int32_t out = 0;
  if (!ctx.dimension(node, tm, out)) return std::nullopt;
  return out;
}

void broadcast(ParseContext& ctx, const io::Node& node, std::vector<Tm>& out) {
  if (!ctx.map(node, "broadcast")) return;
  if (node.size() != 1) {
    // The original reads a second dimension with the first one's factor; two elements say what is meant everywhere.
    ctx.error("NL005", node, cat("'broadcast' names ", node.size(), " dimensions; it takes one"),
              "write one broadcast per dimension: [broadcast: {r: 2}, broadcast: {c: 3}]");
    return;
  }
  auto dim = from_name<Dim>(node.keys()[0]);
  if (!dim) {
    ctx.unknown("NL005", node, "broadcast dimension", node.keys()[0], names_of<Dim>());
    return;
  }
  std::int32_t n = 0;
  if (ctx.dimension(node.items()[0], "broadcast", n)) out.push_back(Tm::broadcast(*dim, n));
}

void pad(ParseContext& ctx, const io::Node& node, std::vector<Tm>& out) {
  if (!node.is_list() || node.size() != 3) {
    ctx.error("NL005", node, "'pad' is a list of rows, columns and value, as in [0, 1, 0.0]");
    return;
  }
  std::int32_t rt = 0, ct = 0;
  double value = 0;
  bool fine = ctx.integer(node.items()[0], "pad", rt, 0, kMaxDimension);
  fine = ctx.integer(node.items()[1], "pad", ct, 0, kMaxDimension) && fine;
  if (ctx.real(node.items()[2], "pad", value) && fine) out.push_back(Tm::pad(rt, ct, value));
}

void one(ParseContext& ctx, const io::Node& node, std::vector<Tm>& out) {
  if (node.is_string()) {
    if (node.text() == "transpose") {
      out.push_back(Tm::transpose());
    } else {
      ctx.error("NL005", node,
                cat("'", node.text(), "' is no tensor manipulation; a word alone is 'transpose', others have a value, as in hslice: 2"));
    }
    return;
  }
  if (!node.is_map() || node.size() != 1) {
    ctx.error("NL005", node, cat("a tensor manipulation is 'transpose' or a map with one key, not ", node.describe()));
    return;
  }
  const std::string& key = node.keys()[0];
  const io::Node& value = node.items()[0];
  if (key == "broadcast") {
    broadcast(ctx, value, out);
  } else if (key == "pad") {
    pad(ctx, value, out);
  } else if (key == "tile_broadcast") {
    Dim dim = Dim::none;
    if (!ctx.word(value, "tile_broadcast", dim)) return;
    if (dim == Dim::z) {
      ctx.error("NL005", value, "'tile_broadcast' goes along r or c");
      return;
    }
    out.push_back(Tm::tile_broadcast(dim));
  } else if (key == "hslice" || key == "vslice" || key == "hstack" || key == "vstack") {
    auto n = factor(ctx, value, key);
    if (!n) return;
    if (key == "hslice") out.push_back(Tm::hslice(*n));
    if (key == "vslice") out.push_back(Tm::vslice(*n));
    if (key == "hstack") out.push_back(Tm::hstack(*n));
    if (key == "vstack") out.push_back(Tm::vstack(*n));
  } else {
    ctx.unknown("NL005", value, "tensor manipulation", key, kTmNames);
  }
}

}  // namespace

void parse_tms(ParseContext& ctx, const io::Node& node, std::string_view name, std::vector<Tm>& out) {
  // Some generators write `None` or nothing for "no manipulations".
  if (node.is_null() || (node.is_string() && node.text() == "None")) return;
  if (!ctx.list(node, name)) return;
  out.reserve(node.size());
  for (const auto& item : node.items()) one(ctx, item, out);
}

}  // namespace buda::netlist
