// Reading and writing of device.json.
#include <buda/image/device_json.hpp>

#include <buda/base/text.hpp>
#include <buda/schema/record.hpp>

namespace buda::image {
namespace {

using io::Node;

// The archives of TT-Buda name files with their top folder.

struct HostFormat {
  DType dtype;
  const char* format;
};
constexpr HostFormat kHostFormats[] = {{DType::f32, "Float32"}, {DType::f16, "Float16"},  {DType::bf16, "Float16_b"},
                                       {DType::i32, "Int32"},   {DType::i8, "Int8"},      {DType::u8, "UInt8"},
                                       {DType::u16, "UInt16"},  {DType::u32, "RawUInt32"}};

Node names_of(const std::vector<host_plan::PlanTensor>& tensors) {
  Node list = Node::list();
  for (const auto& t : tensors) list.push(Node::string(t.queue));
  return list;
}

Node shapes_of(const std::vector<host_plan::PlanTensor>& tensors) {
  Node list = Node::list();
  for (const auto& t : tensors) list.push(schema::Codec<std::vector<std::int64_t>>::write(t.shape));
  return list;
}

Node empty_lists(const std::vector<host_plan::PlanTensor>& tensors) {
  Node list = Node::list();
  for (std::size_t i = 0; i < tensors.size(); ++i) list.push(Node::integer(0));
  return list;
}

Node graph_state(const DeviceJson& device) {
  Node state = Node::map();
  state.add("microbatch", Node::integer(device.microbatch));
  state.add("graph_name", Node::string(device.name));
  state.add("netlist_filename", Node::string(cat(kTopFolder, device.netlist)));
  state.add("ordered_input_names", names_of(device.plan.inputs));
  state.add("ordered_output_names", names_of(device.plan.outputs));
  for (const char* key :
       {"ordered_input_gradient_names", "ordered_output_gradient_names", "ordered_target_names", "ordered_constant_node_names"})
    state.add(key, Node::list());
  Node parameters = Node::list(), entries = Node::map();
  for (const auto& [queue, entry] : device.tensors) {
    parameters.push(Node::string(queue));
    entries.add(queue, schema::write(entry));
  }
  state.add("ordered_parameter_node_names", std::move(parameters));
  state.add("ordered_input_shapes", shapes_of(device.plan.inputs));
  state.add("ordered_output_shapes", shapes_of(device.plan.outputs));
  state.add("ordered_input_subgraph_indices", empty_lists(device.plan.inputs));
  state.add("ordered_output_subgraph_indices", empty_lists(device.plan.outputs));
  state.add("post_const_eval_constants", Node::map());
  state.add("post_const_eval_parameters", std::move(entries));
  return state;
}

// Members of a map, read one by one: keys that are not ours are not our business.
class JsonMembers {
 public:
  explicit JsonMembers(const Node& map) : map_(map) {}

  template <class T>
  void get(const char* key, T& out) {
    if (const Node* node = map_.find(key)) {
      schema::Codec<T>::read(*node, out, reader_);
    } else {
      reader_.error(input_error("IM005", map_.loc(), cat("'", key, "' is missing")));
    }
  }
  // An enumeration of TT-Buda: the bare name, or {"__enum__": "Class.name"}.
  void get_enum(const char* key, std::string& out) {
    const Node* node = map_.find(key);
    if (node != nullptr && node->is_map() && node->find("__enum__") != nullptr) node = node->find("__enum__");
    if (node == nullptr) return get(key, out);
    schema::Codec<std::string>::read(*node, out, reader_);
    out.erase(0, out.rfind('.') + 1);
  }
  schema::Reader& reader() { return reader_; }

 private:
  const Node& map_;
  schema::Reader reader_;
};

}  // namespace

const schema::Record<TensorEntry>& describe(const TensorEntry*) {
  static const auto record = schema::Record<TensorEntry>("a tensor of an image")
                                 .required("bin", &TensorEntry::bin, "name of the member with its bytes")
                                 .required("itemsize", &TensorEntry::itemsize, "bytes of an element")
                                 .required("shape", &TensorEntry::shape, "sizes along the axes")
                                 .required("strides", &TensorEntry::strides, "bytes between neighbours along the axes; row-major")
                                 .required("dim", &TensorEntry::dim, "number of axes")
                                 .required("format", &TensorEntry::format, "device format whose host form the elements have");
  return record;
}

std::optional<std::string> host_format(DType dtype) {
  for (const auto& f : kHostFormats)
    if (f.dtype == dtype) return f.format;
  return std::nullopt;
}

std::optional<DType> dtype_of_host_format(const std::string& format) {
  for (const auto& f : kHostFormats)
    if (f.format == format) return f.dtype;
  return std::nullopt;
}

Node device_json(const DeviceJson& device) {
  Node top = Node::map();
  top.add("version", Node::string(kImageVersion));
  top.add("device_image_name", Node::string(device.name));
  top.add("arch", Node::string(device.arch));
  top.add("devtype", Node::string("Golden"));
  top.add("chip_ids", schema::Codec<std::vector<std::int64_t>>::write(device.chip_ids));
  top.add("fp32_fallback", Node::string("Float16_b"));
  top.add("optimizer", Node::null());
  top.add("training", Node::boolean(false));
  top.add("microbatch_size", Node::integer(device.microbatch));
  top.add("microbatch_count", Node::integer(1));
  top.add("grid_size", schema::Codec<GridShape>::write(device.grid));
  top.add("harvested_rows", schema::Codec<std::vector<std::int64_t>>::write(device.harvested_rows));
  top.add("compiled_graph_state", graph_state(device));
  top.add("host_plan", schema::write(device.plan));
  return top;
}

Result<DeviceJson> read_device_json(const Node& top) {
  if (!top.is_map()) return io::node_error("IM005", top, "expected a map, found " + top.describe());
  const Node* plan = top.find("host_plan");
  if (plan == nullptr) {
    Diagnostic d = input_error(
        "IM006", top.loc(),
        "the image has no 'host_plan': it was made by another toolchain, which keeps in Python code how tensors become queue entries");
    d.hint = "compile the model again with the balancer and tti-pack of this toolchain";
    return d;
  }
  DeviceJson device;
  JsonMembers members(top);
  std::string version;
  members.get("version", version);
  if (!version.empty() && version != kImageVersion)
    members.reader().error(
        input_error("IM005", top.find("version")->loc(), cat("version '", version, "' is not known; '", kImageVersion, "' is read")));
  members.get("device_image_name", device.name);
  members.get_enum("arch", device.arch);
  members.get("chip_ids", device.chip_ids);
  members.get("grid_size", device.grid);
  members.get("harvested_rows", device.harvested_rows);
  members.get("microbatch_size", device.microbatch);
  schema::Codec<host_plan::HostPlan>::read(*plan, device.plan, members.reader());
  Node state_node;
  members.get("compiled_graph_state", state_node);
  if (members.reader().failed()) return std::move(members.reader()).failure();

  if (!state_node.is_map()) return io::node_error("IM005", state_node, "expected a map, found " + state_node.describe());
  JsonMembers state(state_node);
  state.get("netlist_filename", device.netlist);
  state.get("post_const_eval_parameters", device.tensors);
  if (state.reader().failed()) return std::move(state.reader()).failure();
  if (device.netlist.starts_with(kTopFolder)) device.netlist.erase(0, kTopFolder.size());
  return device;
}

}  // namespace buda::image
