// SPDX-License-Identifier: Apache-2.0
// Reading and writing of device.json.
#include <buda/image/device_json.hpp>

#include <buda/base/text.hpp>
#include <buda/schema/record.hpp>

#include <utility>

namespace buda::image {
namespace {

using io::Node;

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
  state.add("ordered_target_shapes", schema::Codec<std::vector<std::vector<std::int64_t>>>::write(device.target_shapes));
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
  template <class T>
  void get_if_there(const char* key, T& out) {
    const Node* node = map_.find(key);
    if (node != nullptr && !node->is_null()) schema::Codec<T>::read(*node, out, reader_);
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

const schema::Record<ModelPart>& describe(const ModelPart*) {
  static const auto record = schema::Record<ModelPart>("a model of an image that holds several")
                                 .required("name", &ModelPart::name, "name by which it is chosen")
                                 .required("prefix", &ModelPart::prefix, "beginning of the names of its parts in the netlist")
                                 .required("microbatch", &ModelPart::microbatch, "queue entries per batch")
                                 .required("host_plan", &ModelPart::plan, "how it is run");
  return record;
}

const schema::Record<TensorEntry>& describe(const TensorEntry*) {
  static const auto record = schema::Record<TensorEntry>("a tensor of an image")
                                 .required("bin", &TensorEntry::bin, "name of the member with its bytes")
                                 .required("itemsize", &TensorEntry::itemsize, "bytes of an element")
                                 .required("shape", &TensorEntry::shape, "sizes along the axes")
                                 .required("strides", &TensorEntry::strides, "bytes between neighbours along the axes; row-major")
                                 .required("dim", &TensorEntry::dim, "number of axes")
                                 .required("format", &TensorEntry::format, "device format whose host form the elements have")
                                 .optional("num_buffers", &TensorEntry::num_buffers, "of a tilized tensor: buffers of its queue")
                                 .optional("buf_size_bytes", &TensorEntry::buf_size_bytes, "of a tilized tensor: bytes of a buffer")
                                 .optional("buffer_size_bytes", &TensorEntry::buffer_size_bytes, "the same under another name");
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
  for (const auto& [key, text] : device.versions) top.add(key, Node::string(text));
  top.add("device_image_name", Node::string(device.name));
  top.add("arch", Node::string(device.arch));
  top.add("devtype", Node::string(device.backend));
  top.add("chip_ids", schema::Codec<std::vector<std::int64_t>>::write(device.chip_ids));
  top.add("fp32_fallback", Node::string("Float16_b"));
  top.add("optimizer", Node::null());
  top.add("training", Node::boolean(device.training));
  top.add("microbatch_size", Node::integer(device.microbatch));
  top.add("microbatch_count", Node::integer(1));
  top.add("grid_size", schema::Codec<GridShape>::write(device.grid));
  top.add("harvested_rows", schema::Codec<std::vector<std::int64_t>>::write(device.harvested_rows));
  top.add("compiled_graph_state", graph_state(device));
  if (device.models.empty()) {
    top.add("host_plan", schema::write(device.plan));
  } else {
    top.add("models", schema::Codec<std::vector<ModelPart>>::write(device.models));
  }
  return top;
}

host_plan::HostPlan joined_plan(const std::string& name, const std::vector<ModelPart>& models) {
  host_plan::HostPlan out;
  out.model = name;
  for (const ModelPart& part : models) {
    out.device = part.plan.device;
    out.arch = part.plan.arch;
    auto add = [&](const std::vector<host_plan::PlanTensor>& from, std::vector<host_plan::PlanTensor>& to) {
      for (host_plan::PlanTensor t : from) {
        t.name = cat(part.name, '/', t.name);
        if (!t.loopback.empty()) t.loopback = cat(part.name, '/', t.loopback);
        to.push_back(std::move(t));
      }
    };
    add(part.plan.inputs, out.inputs);
    add(part.plan.outputs, out.outputs);
  }
  return out;
}

std::string toolchain_version() { return BUDA_VERSION; }

namespace {

// What TT-Buda calls the versions of its parts, and what its guide calls them.
constexpr std::pair<const char*, const char*> kVersionKeys[] = {{"openbuda_version", "openbuda_version"},
                                                                {"pybuda_pip_version_id", "pybuda_version"},
                                                                {"pybuda_commit_hash", "pybuda_commit"},
                                                                {"budabackend_commit_hash", "buda_backend_commit"}};

// Prefixes tell the parts of models apart, so none may be the beginning of another.
void check_models(const std::vector<ModelPart>& models, const Node& top, schema::Reader& reader) {
  for (std::size_t i = 0; i < models.size(); ++i)
    for (std::size_t j = 0; j < models.size(); ++j) {
      if (i == j) continue;
      if (models[i].name == models[j].name || models[i].prefix.starts_with(models[j].prefix))
        return reader.error(input_error(
            "IM005", top.loc(),
            cat("models '", models[i].name, "' and '", models[j].name, "' of 'models' have names or prefixes that cannot be told apart")));
    }
}

// Each input of an archive of TT-Buda is the entry of a queue.
void tensors_of_queues(JsonMembers& state, const char* names_key, const char* shapes_key, std::vector<host_plan::PlanTensor>& out) {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> shapes;
  state.get_if_there(names_key, names);
  state.get_if_there(shapes_key, shapes);
  for (std::size_t i = 0; i < names.size(); ++i)
    out.push_back({names[i], "F32", i < shapes.size() ? shapes[i] : std::vector<std::int64_t>(), names[i], {}});
}

Result<void> read_graph_state(const Node& node, bool is_ours, DeviceJson& device) {
  if (!node.is_map()) return io::node_error("IM005", node, "expected a map, found " + node.describe());
  JsonMembers state(node);
  state.get("netlist_filename", device.netlist);
  state.get_if_there("ordered_target_shapes", device.target_shapes);
  if (is_ours) {
    state.get("post_const_eval_parameters", device.tensors);
  } else {
    tensors_of_queues(state, "ordered_input_names", "ordered_input_shapes", device.plan.inputs);
    tensors_of_queues(state, "ordered_output_names", "ordered_output_shapes", device.plan.outputs);
  }
  if (state.reader().failed()) return std::move(state.reader()).failure();
  // The archives of TT-Buda name files with their top folder.
  if (device.netlist.starts_with(kTopFolder)) device.netlist.erase(0, kTopFolder.size());
  return success();
}

}  // namespace

Result<DeviceJson> describe_device_json(const Node& top) {
  if (!top.is_map()) return io::node_error("IM005", top, "expected a map, found " + top.describe());
  DeviceJson device;
  JsonMembers members(top);
  std::string version;
  members.get("version", version);
  if (!version.empty() && version != kImageVersion)
    members.reader().error(
        input_error("IM005", top.find("version")->loc(), cat("version '", version, "' is not known; '", kImageVersion, "' is read")));
  for (const auto& [key, shown] : kVersionKeys) {
    std::string text;
    members.get_if_there(key, text);
    if (!text.empty()) device.versions.emplace(shown, text);
  }
  members.get("device_image_name", device.name);
  members.get_enum("arch", device.arch);
  if (top.find("devtype") != nullptr) members.get_enum("devtype", device.backend);
  members.get_if_there("training", device.training);
  members.get("chip_ids", device.chip_ids);
  members.get("grid_size", device.grid);
  // TT-Buda writes a number where there is one chip.
  if (const Node* rows = top.find("harvested_rows"); rows != nullptr && rows->kind() == Node::Kind::integer) {
    device.harvested_rows.assign(1, 0);
    members.get("harvested_rows", device.harvested_rows.front());
  } else {
    members.get("harvested_rows", device.harvested_rows);
  }
  members.get("microbatch_size", device.microbatch);
  const Node *plan = top.find("host_plan"), *models = top.find("models");
  if (models != nullptr) {
    schema::Codec<std::vector<ModelPart>>::read(*models, device.models, members.reader());
    if (device.models.empty() && !members.reader().failed())
      members.reader().error(input_error("IM005", models->loc(), "'models' is empty"));
    check_models(device.models, *models, members.reader());
    device.plan = joined_plan(device.name, device.models);
  } else if (plan != nullptr) {
    schema::Codec<host_plan::HostPlan>::read(*plan, device.plan, members.reader());
  } else {
    device.plan.model = device.name;
    device.plan.arch = to_lower(device.arch);
  }
  Node state;
  members.get("compiled_graph_state", state);
  if (members.reader().failed()) return std::move(members.reader()).failure();
  BUDA_TRY(read_graph_state(state, plan != nullptr || models != nullptr, device));
  return device;
}

Result<DeviceJson> read_device_json(const Node& top) {
  if (top.is_map() && top.find("host_plan") == nullptr && top.find("models") == nullptr) {
    Diagnostic d = input_error(
        "IM006", top.loc(),
        "the image has no 'host_plan': it was made by another toolchain, which keeps in Python code how tensors become queue entries");
    d.hint = "compile the model again with the balancer and tti-pack of this toolchain";
    return d;
  }
  return describe_device_json(top);
}

}  // namespace buda::image
