// Writes names, numbers, TMs and attributes.
#include <buda/netlist/text/write_context.hpp>

#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>

#include <cmath>

namespace buda::netlist {

std::string name_text(std::string_view name) { return parse_int(name) ? std::string(name) : io::yaml_scalar(name); }

std::string real_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = to_text(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string tms_text(const std::vector<Tm>& tms) {
  std::vector<std::string> parts;
  for (const Tm& tm : tms) parts.push_back(tm.text());
  return list_text(parts);
}

namespace {

// Adds the members that differ from their defaults.
class Writer {
 public:
  FlowMap map;

  void number(std::string_view key, std::int32_t value, std::int32_t absent = 0) {
    if (value != absent) map.add(key, cat(value));
  }
  void flag(std::string_view key, bool value) {
    if (value) map.add(key, "true");
  }
  void real(std::string_view key, double value, double absent = 0) {
    if (value != absent) map.add(key, real_text(value));
  }
  void name(std::string_view key, const std::string& value) {
    if (!value.empty()) map.add(key, name_text(value));
  }
  template <class E>
  void word(std::string_view key, E value, E absent) {
    if (value != absent) map.add(key, name_of(value));
  }
  void numbers(std::string_view key, const std::vector<std::int32_t>& value) {
    if (!value.empty()) map.add(key, list_text(value));
  }
};

void write_sparse(const SparseEncoding& s, Writer& w) {
  w.number("num_index_tiles", s.num_index_tiles);
  w.number("num_sparse_tiles", s.num_sparse_tiles);
  w.number("num_columns", s.num_columns);
  w.number("sparse_tile_ptr_bits", s.sparse_tile_ptr_bits);
  w.number("sparse_ublock_idx_bits", s.sparse_ublock_idx_bits);
  w.number("indices_len", s.indices_len);
  w.number("fracture_factor", s.fracture_factor, 1);
  w.number("starting_row", s.starting_row);
  w.number("act_t", s.act_t);
  w.numbers("num_nz_strips", s.num_nz_strips);
}

void write_by_input(const std::vector<OpInput>& inputs, Writer& w) {
  for (bool per_t : {false, true}) {
    FlowMap map;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const KernelBroadcast& k = inputs[i].kernel_broadcast;
      if (k.tiles != 0 && k.per_t == per_t) map.add(cat("input_", i), cat(k.tiles));
    }
    if (!map.empty()) w.map.add(per_t ? "kernel_broadcast_per_t" : "kernel_broadcast", map.text());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto& s = inputs[i].splice) w.map.add(cat("input", i), cat('[', s->index, ", ", s->length, ", ", s->stride, ']'));
}

}  // namespace

FlowMap attribute_fields(const OpAttributes& a, const std::vector<OpInput>* inputs) {
  const OpAttributes none;
  Writer w;
  w.number("m_k", a.m_k);
  w.number("u_kt", a.u_kt);
  w.flag("bias", a.bias);
  // accumulate and dim come before z: the original looks at z only after one of them.
  w.flag("accumulate", a.accumulate);
  if (a.reduce_dim != Dim::none) {
    w.map.add("dim", name_of(a.reduce_dim));
    w.map.add("type", "max");
  }
  w.number("z", a.z);
  w.flag("l1_acc", a.l1_acc);
  if (a.min_buffer_input) w.map.add("min_buffer_input", cat(*a.min_buffer_input));
  w.name("sfpu_op", a.sfpu_op);
  // relu_en comes before the other two: the original checks it there.
  w.flag("relu_en", a.relu.enabled);
  w.real("relu_threshold", a.relu.threshold);
  w.word("relu_mode", a.relu.mode, none.relu.mode);
  w.flag("requant", a.requant);
  w.flag("dequant", a.dequant);
  if (inputs != nullptr) w.real("zero_point", a.zero_point);
  w.word("vector", a.vector, none.vector);
  w.flag("approximate_mode", a.approximate_mode);
  w.word("sfpu_execution_thread", a.sfpu_thread, none.sfpu_thread);
  w.real("p", a.p);
  w.number("seed", a.seed);
  w.real("slope", a.slope, none.slope);
  w.number("exp", a.exp);
  if (a.granularity) w.map.add("granularity", name_of(*a.granularity));
  w.flag("identity", a.identity);
  write_sparse(a.sparse, w);
  w.number("num_indices", a.num_indices);
  w.number("k", a.k);
  w.word("sort", a.sort, none.sort);
  w.flag("kreduce", a.kreduce);
  w.numbers("ingress_channels", a.ingress_channels);
  w.numbers("egress_channels", a.egress_channels);
  w.number("dest_device", a.dest_device, none.dest_device);
  w.word("stoch_rnd_mode", a.stochastic_rounding, none.stochastic_rounding);
  w.name("fused_op_id", a.fused_op_id);
  if (inputs != nullptr) write_by_input(*inputs, w);
  return w.map;
}

}  // namespace buda::netlist
