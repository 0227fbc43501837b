// The description of an image, for people and for programs.
#include "apps/tti-pack/run.hpp"

#include <buda/base/text.hpp>
#include <buda/image/image.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/op_shapes.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/netlist/program_vm.hpp>
#include <buda/runtime/ports.hpp>

#include <algorithm>
#include <set>

namespace buda::tti_pack {
namespace {

using io::Node;

Node numbers(const Shape& shape) { return schema::Codec<std::vector<std::int64_t>>::write(shape.dims()); }
Node size(std::size_t n) { return Node::integer(static_cast<std::int64_t>(n)); }

Node tensor_nodes(const std::vector<netlist::PlanTensor>& tensors) {
  Node list = Node::list();
  for (const auto& t : tensors) {
    Node node = Node::map();
    node.add("name", Node::string(t.name));
    node.add("dtype", Node::string(t.dtype));
    node.add("shape", numbers(Shape(t.shape)));
    node.add("queue", Node::string(t.queue));
    list.push(std::move(node));
  }
  return list;
}

std::uint64_t queue_bytes(const netlist::Queue& q) { return netlist::buffer_bytes(q) * static_cast<std::uint64_t>(q.grid.volume()); }

Node queue_node(const netlist::Queue& q) {
  Node node = Node::map();
  node.add("name", Node::string(q.name));
  node.add("kind", Node::string(std::string(netlist::name_of(q.kind))));
  node.add("input", Node::string(q.input));
  node.add("entries", Node::integer(q.entries));
  node.add("shape", numbers(runtime::entry_shape(q)));
  node.add("format", Node::string(std::string(format_name(q.format))));
  node.add("location", Node::string(std::string(netlist::name_of(q.location))));
  node.add("bytes", Node::integer(static_cast<std::int64_t>(queue_bytes(q))));
  return node;
}

Node graph_node(const netlist::Graph& g) {
  std::int64_t cores = 0;
  for (const auto& op : g.ops) cores += op.grid.volume();
  Node node = Node::map();
  node.add("name", Node::string(g.name));
  node.add("chip", Node::integer(g.target_device));
  node.add("inputs_per_epoch", Node::integer(g.input_count));
  node.add("ops", size(g.ops.size()));
  node.add("cores", Node::integer(cores));
  return node;
}

Result<Node> describe(const image::Image& image, const image::Members& members, const netlist::Netlist& netlist, std::size_t file_bytes) {
  const auto& d = image.device;
  Node top = Node::map();
  top.add("schema", Node::string("buda.image-info/1"));
  top.add("model", Node::string(d.name));
  top.add("device", Node::string(d.plan.device));
  top.add("arch", Node::string(d.arch));
  top.add("grid", schema::Codec<GridShape>::write(d.grid));
  top.add("bytes", size(file_bytes));
  top.add("inputs", tensor_nodes(d.plan.inputs));
  top.add("outputs", tensor_nodes(d.plan.outputs));
  Node programs = Node::list();
  for (const auto& segment : d.plan.segments)
    for (const auto& p : segment.programs) programs.push(Node::string(p));
  top.add("programs", std::move(programs));
  BUDA_ASSIGN(auto epochs, netlist::static_epochs(netlist));
  top.add("epochs", size(epochs.size()));
  Node graphs = Node::list(), queues = Node::list(), files = Node::list();
  for (const auto& g : netlist.graphs) graphs.push(graph_node(g));
  for (const auto& q : netlist.queues) queues.push(queue_node(q));
  std::size_t parameter_bytes = 0;
  for (const auto& [queue, tensor] : image.parameters) parameter_bytes += tensor.bytes().size();
  for (const auto& [name, bytes] : members) {
    Node file = Node::map();
    file.add("name", Node::string(name));
    file.add("bytes", size(bytes.size()));
    files.push(std::move(file));
  }
  top.add("graphs", std::move(graphs));
  top.add("queues", std::move(queues));
  top.add("parameters", size(image.parameters.size()));
  top.add("parameter_bytes", size(parameter_bytes));
  top.add("members", std::move(files));
  return top;
}

// Columns of text, padded to their widest cell; the last one as it is.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (widths.size() <= c) widths.push_back(0);
      widths[c] = std::max(widths[c], row[c].size());
    }
  std::string out;
  for (const auto& row : rows) {
    out += "  ";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += c + 1 == row.size() ? row[c] : row[c] + std::string(widths[c] - row[c].size() + 2, ' ');
    out += '\n';
  }
  return out;
}

std::string field(const Node& node, const char* key) {
  const Node* value = node.find(key);
  return value == nullptr ? "" : value->is_list() ? io::json_line(*value) : value->text();
}

std::string bytes_field(const Node& node) {
  auto bytes = node.find("bytes")->as_int();
  return bytes_text(bytes ? static_cast<std::uint64_t>(*bytes) : 0);
}

std::string describe_text(const Node& top) {
  std::string out = cat(field(top, "model"), " for ", field(top, "device"), " (", field(top, "arch"), ", grid ", field(top, "grid"), "), ",
                        bytes_field(top), '\n');
  for (const char* side : {"inputs", "outputs"}) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& t : top.find(side)->items())
      rows.push_back({field(t, "name"), field(t, "dtype"), field(t, "shape"), cat("queue ", field(t, "queue"))});
    out += cat('\n', side, '\n', table(rows));
  }
  std::vector<std::vector<std::string>> rows = {{"name", "chip", "ops", "cores", "inputs per epoch"}};
  for (const auto& g : top.find("graphs")->items())
    rows.push_back({field(g, "name"), field(g, "chip"), field(g, "ops"), field(g, "cores"), field(g, "inputs_per_epoch")});
  out += cat("\ngraphs, ", field(top, "epochs"), " epochs, programs ", field(top, "programs"), '\n', table(rows));
  rows = {{"name", "kind", "entries", "entry", "format", "in", "size", "from"}};
  for (const auto& q : top.find("queues")->items())
    rows.push_back({field(q, "name"), field(q, "kind"), field(q, "entries"), field(q, "shape"), field(q, "format"), field(q, "location"),
                    bytes_field(q), field(q, "input")});
  out += cat("\nqueues\n", table(rows));
  rows.clear();
  for (const auto& m : top.find("members")->items()) rows.push_back({bytes_field(m), field(m, "name")});
  return out + cat("\nmembers\n", table(rows));
}

}  // namespace

Result<void> info(const Options& o, Host& host) {
  BUDA_ASSIGN(auto bytes, host.fs().read(o.image));
  BUDA_ASSIGN(auto members, image::read_members(bytes, o.image));
  BUDA_ASSIGN(auto image, image::read_image(members, o.image));
  netlist::ParseOptions options;
  options.arch = image.device.plan.arch;
  BUDA_ASSIGN(auto netlist, netlist::parse_netlist(image.netlist.view(), cat(o.image, ":", image.netlist_name), options));
  BUDA_ASSIGN(auto description, describe(image, members, netlist, bytes.size()));
  return host.fs().write(std::string(io::kStdStream), o.json ? io::json_pretty(description) : describe_text(description));
}

}  // namespace buda::tti_pack
