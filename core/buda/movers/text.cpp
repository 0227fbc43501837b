// SPDX-License-Identifier: Apache-2.0
// A line for each ring, for each receiver, for each sender, and for each run of tuples.
#include <buda/movers/text.hpp>

#include <buda/base/text.hpp>
#include <buda/movers/encode.hpp>

#include <string_view>

namespace buda::movers {
namespace {

std::string node(device::NocCoord n) { return cat(n.x, '-', n.y); }

std::string name_of(const overlay::Core& core, const Ring& ring) {
  const overlay::Stream* s = core.find(ring.stream);
  const bool is_input = s != nullptr && s->kind == overlay::StreamKind::input;
  return cat("stream ", ring.stream,
             s == nullptr ? "" : cat(" (", overlay::stream_kind_name(s->kind), is_input ? cat(' ', s->operand) : "", ')'));
}

// `say`: a tuple. Of a run the first and the last.
template <std::size_t N, class Say>
void add_runs(std::string& out, const std::vector<overlay::Run<N>>& runs, Say say) {
  for (const overlay::Run<N>& run : runs) {
    out += cat("      ", say(run.first));
    if (run.count > 1) out += cat(", and ", run.count - 1, " more up to ", say(run.at(run.count - 1)));
    out += '\n';
  }
}

std::string plural(std::int64_t count, std::string_view what) { return cat(count, ' ', what, count == 1 ? "" : "s"); }

void add_in(std::string& out, const CoreTables& core, const In& in) {
  const std::string group =
      in.group > 0 ? cat(", each ", plural(in.group, "tile"), " announced ", in.times, " times, in ", core.rings[in.ring].copies, " copies")
                   : "";
  out += cat("    in: stream ", core.rings[in.ring].stream, ", network ", in.network, group, '\n');
  add_runs(out, in.read, [&](const ReadRun::Tuple& t) {
    return cat("read ", plural(t[0], "tile"), " from ", node(core.nodes[static_cast<std::size_t>(t[1])].node), ' ',
               hex_text(static_cast<std::uint64_t>(t[2])));
  });
  add_runs(out, in.takes, [&](const TakeRun::Tuple& t) {
    return cat("take ", plural(t[0], "tile"), " from ", node(in.credits[static_cast<std::size_t>(t[1])].node));
  });
}

void add_out(std::string& out, const CoreTables& core, const Out& o) {
  const std::string rows =
      o.rows.count > 0 ? cat(", ", plural(o.rows.count, "row"), " of ", o.rows.bytes, " bytes in a message, ", o.rows.pitch, " apart") : "";
  out += cat("    out: stream ", core.rings[o.ring].stream, ", network ", o.network, rows, '\n');
  for (std::size_t i = 0; i < o.connections.size(); ++i) {
    const Connection& c = o.connections[i];
    out += cat("      to ", i, ": ", node(c.first), c.receivers > 1 ? cat(" to ", node(c.last)) : "", ", ", plural(c.slots, "slot"), " at ",
               hex_text(c.address), '\n');
  }
  add_runs(out, o.sends, [&](const SendRun::Tuple& t) {
    const std::string what = cat(plural(t[0], "tile"), " from number ", t[2]);
    return o.writes ? cat("write ", what, " to ", node(core.nodes[static_cast<std::size_t>(t[1])].node), ' ',
                          hex_text(static_cast<std::uint64_t>(t[3])))
                    : cat("send ", what, " to ", t[1], " as number ", t[3]);
  });
}

}  // namespace

std::string text_of(const Tables& tables, const overlay::Blob& blob, const device::DeviceDescriptor& device) {
  std::string out;
  for (std::size_t c = 0; c < tables.cores.size(); ++c) {
    const CoreTables& core = tables.cores[c];
    if (core.ins.empty() && core.outs.empty()) continue;
    const auto words = encode(core, device.noc, std::nullopt);
    out += cat("core ", node(core.node), core.op.empty() ? "" : cat(", op '", core.op, "'"), ": ",
               words ? cat(words->size(), " bytes of tables") : std::string("tables that do not fit"), '\n');
    for (const Ring& ring : core.rings)
      out += cat("    ring: ", name_of(blob.cores[c], ring), ", ", plural(ring.kernel_slots(), "slot"), " of ", ring.message_bytes,
                 " bytes at ", hex_text(ring.address), ring.sums ? ", sums" : "", '\n');
    for (const In& in : core.ins) add_in(out, core, in);
    for (const Out& o : core.outs) add_out(out, core, o);
  }
  return out;
}

}  // namespace buda::movers
