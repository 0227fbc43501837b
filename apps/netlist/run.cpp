// SPDX-License-Identifier: Apache-2.0
// The commands of netlist that take a line or two.
#include "apps/netlist/run.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/text/diff.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>

namespace buda::netlist_tool {

std::string shown_name(const std::string& path) { return path == io::kStdStream ? "<stdin>" : path; }

Result<netlist::Netlist> read_netlist(const std::string& path, bool as_written, Host& host) {
  BUDA_ASSIGN(auto bytes, host.fs().read(path));
  BUDA_ASSIGN(auto netlist,
              netlist::parse_netlist(bytes.view(), shown_name(path), {.arch = "", .any_arch = true, .keep_instances = as_written}));
  Failure failure;
  for (Diagnostic d : netlist.findings) {
    // Another op stands where one of no known type was; that is good for validation only.
    if (d.severity == Severity::error && d.code == "NL003") {
      failure.add(std::move(d));
      continue;
    }
    d.severity = Severity::warning;
    host.report(d);
  }
  if (!failure.empty()) return failure;
  return netlist;
}

Result<void> print(const Options& o, Host& host) {
  BUDA_ASSIGN(auto netlist, read_netlist(o.netlist, true, host));
  return host.fs().write(o.output, netlist::write_netlist(netlist), host.write_mode);
}

Result<void> expand(const Options& o, Host& host) {
  BUDA_ASSIGN(auto netlist, read_netlist(o.netlist, false, host));
  return host.fs().write(o.output, netlist::write_netlist(netlist), host.write_mode);
}

namespace {

std::string json_of(const netlist::Difference& d) {
  using Kind = netlist::Difference::Kind;
  io::Node line = io::Node::map();
  line.add("change", io::Node::string(d.kind == Kind::removed ? "removed" : d.kind == Kind::added ? "added" : "changed"));
  line.add("element", io::Node::string(d.element));
  if (!d.name.empty()) line.add("name", io::Node::string(d.name));
  if (!d.field.empty()) line.add("field", io::Node::string(d.field));
  if (!d.before.empty()) line.add("before", io::Node::string(d.before));
  if (!d.after.empty()) line.add("after", io::Node::string(d.after));
  return io::json_line(line);
}

}  // namespace

Result<void> diff(const Options& o, Host& host) {
  BUDA_ASSIGN(auto before, read_netlist(o.netlist, true, host));
  BUDA_ASSIGN(auto after, read_netlist(o.other, true, host));
  auto found = netlist::diff(before, after);
  if (found.empty()) return success();
  std::string text;
  for (const auto& d : found) text += (o.format == "json" ? json_of(d) : d.text()) + "\n";
  BUDA_TRY(host.fs().write(o.output, text, host.write_mode));
  Diagnostic d = input_error("NT010", {shown_name(o.other)},
                             cat(found.size(), found.size() == 1 ? " difference" : " differences", " to '", shown_name(o.netlist), '\''));
  d.fault = Fault::mismatch;
  return d;
}

}  // namespace buda::netlist_tool
