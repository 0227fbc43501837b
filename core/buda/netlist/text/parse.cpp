// SPDX-License-Identifier: Apache-2.0
// The top of a netlist: sections, architectures.
#include <buda/netlist/text/parse.hpp>

#include <buda/io/yaml.hpp>
#include <buda/netlist/text/parse_context.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::netlist {
namespace {

void read_archs(ParseContext& ctx, const io::Node& node, std::vector<std::string>& out) {
  std::vector<std::string> words;
  if (node.is_list()) {
    if (!ctx.names(node, "arch", words)) return;
  } else {
    words.emplace_back();
    if (!ctx.name(node, "arch", words.back())) return;
  }
  for (const auto& word : words) {
    std::string arch = to_lower(word);
    if (std::find(known_archs().begin(), known_archs().end(), arch) == known_archs().end()) {
      ctx.unknown("NL003", node, "architecture", word, known_archs());
    } else if (std::find(out.begin(), out.end(), arch) == out.end()) {
      out.push_back(std::move(arch));
    }
  }
  if (words.empty()) ctx.error("NL004", node, "'arch' is an empty list");
}

void read_devices_section(ParseContext& ctx, const io::Node& node, Netlist& out) {
  ctx.enter("", "devices");
  if (!ctx.map(node, "devices")) return;
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (node.keys()[i] == "arch") {
      read_archs(ctx, node.items()[i], out.archs);
    } else {
      ctx.unknown("NL001", node.items()[i], "key", node.keys()[i], {"arch"});
    }
  }
  if (node.find("arch") == nullptr) ctx.error("NL002", node, "'arch' is missing");
}

void choose_arch(ParseContext& ctx, const io::Node& section, const ParseOptions& options, Netlist& out) {
  if (out.archs.empty()) return;
  const io::Node& devices = *section.find("arch");
  if (options.arch.empty()) {
    if (out.archs.size() > 1 && !options.any_arch)
      ctx.error("NL007", devices, cat("the netlist is for any of ", join(out.archs, ", "), "; it is ambiguous which one to use"),
                "name the device with --device, or write one architecture");
    out.arch = out.archs.front();
    return;
  }
  out.arch = to_lower(options.arch);
  if (std::find(out.archs.begin(), out.archs.end(), out.arch) == out.archs.end())
    ctx.error("NL007", devices, cat("the netlist is for ", join(out.archs, ", "), ", not for ", out.arch));
}

void read_programs(ParseContext& ctx, const io::Node& node, Netlist& out) {
  ctx.enter("", "programs");
  if (node.is_null()) return;
  if (!ctx.list(node, "programs")) return;
  std::map<std::string, std::size_t> places;  // of a name in out.programs; of equal names the last counts
  for (std::size_t i = 0; i < out.programs.size(); ++i) places.emplace(out.programs[i].name, i);
  for (const auto& item : node.items()) {
    ctx.enter("", "programs");
    if (!item.is_map() || item.size() != 1) {
      ctx.error("NL006", item, cat("a program is a map {name: [instructions]}, not ", item.describe()));
      continue;
    }
    ctx.check_length(item, item.keys()[0]);
    Program program = parse_program(ctx, item.keys()[0], item.items()[0]);
    auto [twin, is_new] = places.try_emplace(program.name, out.programs.size());
    if (is_new) {
      out.programs.push_back(std::move(program));
    } else {
      ctx.repeated(item.items()[0], program.name);
      out.programs[twin->second] = std::move(program);
    }
  }
}

// The members of a section that is a map of named elements; an empty section is null in YAML.
template <class Fn>
void each(ParseContext& ctx, const io::Node& node, const std::string& section, Fn fn) {
  ctx.enter("", section);
  if (node.is_null() || !ctx.map(node, section)) return;
  check_unique_keys(ctx, node, "name");
  for (std::size_t i = 0; i < node.size(); ++i) fn(node.keys()[i], node.items()[i]);
}

void missing_sections(ParseContext& ctx, const io::Node& top, const Netlist& out) {
  ctx.enter("", "");
  std::vector<std::string> others;
  for (const auto& [key, value] : out.other) others.push_back(key);
  for (std::string_view section : {"devices", "queues", "graphs"}) {
    if (top.find(section) != nullptr) continue;
    auto near = nearest_word(section, others);
    ctx.error("NL002", top, cat("section '", section, "' is missing"), near ? cat("is '", *near, "' meant to be it?") : std::string());
  }
}

// The version is given in a comment, so that the original reads our netlists; netlists of others have none.
std::optional<Diagnostic> wrong_version(std::string_view text, const std::string& file) {
  constexpr std::string_view kMark = "# buda.netlist/";
  if (!text.starts_with(kMark)) return std::nullopt;
  std::string_view version = trim(text.substr(kMark.size(), text.find('\n') - kMark.size()));
  if (version == "1") return std::nullopt;
  return input_error("NL011", {file, 1, 1}, cat("this is buda.netlist/", version, "; buda.netlist/1 can be read"));
}

}  // namespace

const std::vector<std::string>& known_archs() {
  static const std::vector<std::string> archs = {"grayskull", "wormhole", "wormhole_b0", "blackhole"};
  return archs;
}

Result<Netlist> parse_netlist(std::string_view text, const std::string& file, const ParseOptions& options) {
  if (auto d = wrong_version(text, file)) return *d;
  BUDA_ASSIGN(io::Node top, io::parse_yaml(text, file, {.repeated_keys = true}));
  ParseContext ctx(file);
  Netlist out;
  out.file = file;
  if (!ctx.map(top, "a netlist")) return ctx.take_failure();
  std::set<std::string_view> sections;
  for (std::size_t i = 0; i < top.size(); ++i)
    if (!sections.insert(top.keys()[i]).second) ctx.repeated(top.items()[i], top.keys()[i]);
  std::vector<QueueDraft> queues;
  std::vector<GraphDraft> graphs;
  for (std::size_t i = 0; i < top.size(); ++i) {
    const std::string& key = top.keys()[i];
    const io::Node& node = top.items()[i];
    if (key == "devices") {
      out.archs.clear();
      read_devices_section(ctx, node, out);
      choose_arch(ctx, node, options, out);
    } else if (key == "queues") {
      each(ctx, node, key, [&](const std::string& name, const io::Node& n) { queues.push_back(parse_queue(ctx, name, n)); });
    } else if (key == "graphs") {
      each(ctx, node, key, [&](const std::string& name, const io::Node& n) { graphs.push_back(parse_graph(ctx, name, n)); });
    } else if (key == "fused_ops") {
      each(ctx, node, key, [&](const std::string& id, const io::Node& n) { out.fused_ops.push_back(parse_fused_op(ctx, id, n)); });
    } else if (key == "programs") {
      read_programs(ctx, node, out);
    } else {
      ctx.check_length(node, key);
      out.other.emplace_back(key, node);
    }
  }
  missing_sections(ctx, top, out);
  if (ctx.failed()) return ctx.take_failure();
  if (options.keep_instances)
    keep_instances(std::move(queues), std::move(graphs), out);
  else
    expand_instances(ctx, std::move(queues), std::move(graphs), out);
  if (ctx.failed()) return ctx.take_failure();
  out.findings = ctx.take_findings();
  return out;
}

}  // namespace buda::netlist
