// SPDX-License-Identifier: Apache-2.0
// Writes pipegen files.
#include <buda/pipes/format/pipegen_file.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/pipes/format/pipegen_keys.hpp>

#include <charconv>
#include <type_traits>

namespace buda::pipes {
namespace {

void add_number(std::string& out, std::uint64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void add_hex(std::string& out, std::uint64_t value) {
  char buffer[24];
  out += "0x";
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr);
}

template <class List>
void add_list(std::string& out, const List& list) {
  out += '[';
  bool first = true;
  for (const auto& v : list) {
    if (!first) out += ", ";
    first = false;
    if constexpr (std::is_signed_v<std::decay_t<decltype(v)>>) {
      append_text(out, v);
    } else {
      add_number(out, v);
    }
  }
  out += ']';
}

void add_special(std::string& out, const Buffer& b, SpecialKey key) {
  switch (key) {
    case SpecialKey::op:
      out += io::yaml_scalar(b.op);
      break;
    case SpecialKey::type:
      out += buffer_type_name(b.type);
      break;
    case SpecialKey::chip:
      out += cat('[', b.chip, ']');
      break;
    case SpecialKey::core:
      out += cat('[', b.core.row, ", ", b.core.col, ']');
      break;
    case SpecialKey::prefetch:
      out += cat(static_cast<int>(b.prefetch_type));
      break;
    case SpecialKey::address:
      // Buffers that are never in DRAM have a plain zero here.
      if (b.type == BufferType::unpacker || b.type == BufferType::packer || b.type == BufferType::prolog_relay) {
        add_number(out, b.dram_addr);
      } else {
        add_hex(out, b.dram_addr);
      }
      break;
  }
}

// Adds the value of a key; false when it is none, 0 or false.
bool add_value(std::string& out, const Buffer& b, const BufferKey& key) {
  auto put = [&](const auto& value) -> bool {
    using V = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<V, SpecialKey>) {
      add_special(out, b, value);
      return true;
    } else if constexpr (std::is_same_v<V, bool>) {
      out += value ? '1' : '0';
      return value;
    } else if constexpr (std::is_integral_v<V>) {
      append_text(out, value);
      return value != 0;
    } else {
      if (value) append_text(out, *value);
      return value.has_value();
    }
  };
  return visit_key(key, put, b);
}

void add_comment(std::string& out, const Buffer& b) {
  switch (b.type) {
    case BufferType::unpacker:
      out += cat("  # Op ", b.op, ": [r=", b.core.row, ", c=", b.core.col, "], kernel input buf ", b.operand);
      break;
    case BufferType::packer:
      out += cat("  # Op ", b.op, ": [r=", b.core.row, ", c=", b.core.col, "], kernel output buf");
      break;
    case BufferType::intermediate:
    case BufferType::gradient_op:
      out += cat("  # Op ", b.op, ": [r=", b.core.row, ", c=", b.core.col, "], kernel intermediate buf");
      break;
    case BufferType::dram_io:
    case BufferType::dram_prolog:
    case BufferType::dram_epilog:
      out += cat("  # Queue ", b.op);
      break;
    default:
      if (b.is_padding) out += "  # Padding Buffer";
      break;
  }
}

// A comment ends with its line, so a name that has line breaks in it would not stay inside.
bool fits_comment(std::string_view name) {
  for (char c : name)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 127) return false;
  return true;
}

void add_buffer(std::string& out, const Buffer& b) {
  out += "---\nbuffer_";
  add_number(out, b.id);
  out += ':';
  if (fits_comment(b.op)) add_comment(out, b);
  out += '\n';
  for (const WrittenKey& w : written_keys(b.type, b.is_padding)) {
    const BufferKey& key = buffer_keys()[w.key];
    std::size_t start = out.size();
    out += "  ";
    out += key.name;
    out += ": ";
    if (!add_value(out, b, key) && w.optional) {
      out.resize(start);
    } else {
      out += '\n';
    }
  }
}

void add_cores(std::string& out, const std::vector<CoreCoord>& cores) {
  auto one = [&](const CoreCoord& c) { out += cat('[', c.chip, ", ", c.core.row, ", ", c.core.col, ']'); };
  if (cores.size() == 1) return one(cores.front());
  out += '[';
  for (std::size_t i = 0; i < cores.size(); ++i) {
    if (i > 0) out += ", ";
    one(cores[i]);
  }
  out += ']';
}

void add_pipe(std::string& out, const Pipe& p, const BufferIndex& buffers) {
  out += "---\npipe_";
  add_number(out, p.id);
  out += ':';
  const Buffer* target = p.outputs.empty() || p.outputs.front().empty() ? nullptr : buffers.find(p.outputs.front().front());
  if (target != nullptr && fits_comment(target->op))
    out += target->is_queue() ? cat("  # Queue: ", target->op, ", input 0") : cat("  # Op: ", target->op, ", input ", target->operand);
  out += "\n  id: ";
  add_number(out, p.id);
  auto key = [&](std::string_view name) -> std::string& {
    out += "\n  ";
    out += name;
    return out += ": ";
  };
  if (p.ethernet_pipe) key("ethernet_pipe") += '1';
  if (p.mmio_downstream) {
    key("mmio_pipe") += '1';
    append_text(key("mmio_pipe_downstream"), *p.mmio_downstream);
  }
  add_list(key("input_list"), p.inputs);
  append_text(key("pipe_periodic_repeat"), p.periodic_repeat);
  append_text(key("pipe_consumer_repeat"), p.consumer_repeat);
  key("output_list");
  if (p.outputs.size() == 1) {
    add_list(out, p.outputs.front());
  } else {
    out += '[';
    for (std::size_t i = 0; i < p.outputs.size(); ++i) {
      if (i > 0) out += ", ";
      add_list(out, p.outputs[i]);
    }
    out += ']';
  }
  append_text(key("incoming_noc_id"), p.incoming_noc);
  append_text(key("outgoing_noc_id"), p.outgoing_noc);
  append_text(key("outgoing_vc"), p.outgoing_vc);
  append_text(key("incoming_vc"), p.incoming_vc);
  if (p.op_input_dram_io_buf_size_tiles != 0) append_text(key("op_input_dram_io_buf_size_tiles"), p.op_input_dram_io_buf_size_tiles);
  if (p.direct_mcast) key("direct_mcast") += '1';
  if (p.disable_gather_optimization) key("dis_gather_opt") += '1';
  if (p.ethernet_chan) append_text(key("ethernet_chan"), *p.ethernet_chan);
  add_cores(key("mcast_core_rc"), p.mcast_core);
  if (!p.output_padding.empty()) add_list(key("output_padding_list"), p.output_padding);
  if (p.reads_dram()) {
    add_list(key("dram_pipe_total_readers"), p.dram_total_readers);
    add_list(key("dram_pipe_reader_index"), p.dram_reader_index);
    append_text(key("dram_pipe_num_forks"), p.dram_num_forks);
    append_text(key("dram_pipe_fork_index"), p.dram_fork_index);
  }
  out += '\n';
}

// Calls flush(text) with pieces of about 64 KiB.
template <class Flush>
Result<void> write_pieces(const PipeGraph& graph, Flush flush) {
  constexpr std::size_t kPiece = 1 << 16;
  std::string text(kPipegenHeader);
  if (!graph.device.empty() && fits_comment(graph.device)) text += cat(kPipegenDevice, graph.device);
  text += '\n';
  for (std::size_t i = 0; i < graph.graphs.size(); ++i)
    text += cat(i == 0 ? "" : "---\n", "graph_name: ", io::yaml_scalar(graph.graphs[i]), '\n');
  auto pour = [&]() -> Result<void> {
    if (text.size() < kPiece) return success();
    BUDA_TRY(flush(text));
    text.clear();
    return success();
  };
  for (const Buffer& b : graph.buffers) {
    add_buffer(text, b);
    BUDA_TRY(pour());
  }
  BufferIndex buffers(graph.buffers);
  for (const Pipe& p : graph.pipes) {
    add_pipe(text, p, buffers);
    BUDA_TRY(pour());
  }
  return flush(text);
}

}  // namespace

Result<void> write_pipegen(const PipeGraph& graph, io::OutputFile& out) {
  return write_pieces(graph, [&](std::string_view text) { return out.write(text); });
}

std::string pipegen_text(const PipeGraph& graph) {
  std::string all;
  static_cast<void>(write_pieces(graph, [&](std::string_view text) {
    all += text;
    return success();
  }));
  return all;
}

}  // namespace buda::pipes
