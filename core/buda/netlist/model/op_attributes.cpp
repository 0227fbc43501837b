// The table of attributes. Which op takes which is what TT-Buda's parser asks for: an attribute that an op type does not know is fatal
// there.
#include <buda/netlist/model/op_attributes.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/ops/table/device_op.hpp>

#include <initializer_list>

namespace buda::netlist {
namespace {

using T = OpType;

constexpr std::uint64_t bits(std::initializer_list<OpType> types) {
  std::uint64_t out = 0;
  for (OpType t : types) out |= std::uint64_t{1} << static_cast<unsigned>(t);
  return out;
}

// The types of a class.
std::uint64_t bits(OpClass op_class) {
  std::uint64_t out = 0;
  for (const ops::DeviceOp& op : ops::device_ops())
    if (op.op_class == op_class) out |= bits({op.type});
  return out;
}

// The types that have an attribute of this key in their row.
std::uint64_t owners(std::string_view key) {
  std::uint64_t out = 0;
  for (const ops::DeviceOp& op : ops::device_ops())
    for (const ops::OwnAttribute& own : op.attributes)
      if (own.def.name == key) out |= bits({op.type});
  return out;
}

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kSparse = bits({T::matmul, T::fused_op});
constexpr std::uint64_t kSparseOrBuffer = bits({T::matmul, T::fused_op, T::buffer});

// An attribute of the types whose rows have it, and of fused ops of these.
AttributeInfo own(std::string_view key, std::string_view value, std::string_view absent, std::string_view meaning) {
  return {key, value, absent, meaning, owners(key) | bits({T::fused_op}), owners(key)};
}

}  // namespace

const std::vector<AttributeInfo>& all_attributes() {
  static const std::vector<AttributeInfo> table = {
      {"m_k", "int > 0", "", "inner blocks; the inner dimension in tiles is m_k * u_kt", kAll, kAll},
      {"u_kt", "int > 0", "", "tiles of the inner dimension in one inner block", kAll, kAll},
      {"bias", "true or false", "false", "one more input, whose row 0 of each tile is added to the result (all rows for integers)", kAll,
       0},
      {"accumulate", "true or false", "false", "sum the results of z consecutive t", kAll, 0},
      {"z", "int", "", "how many t are summed (accumulate), or reduced to one (dim: z)", bits({T::matmul, T::reduce, T::fused_op}), 0},
      {"l1_acc", "true or false", "false", "the packer adds partial results to what is in L1", bits({T::matmul, T::depthwise}), 0},
      {"min_buffer_input", "0 or 1", "", "the input of which only one ublock row or column is kept at a time",
       bits({T::matmul, T::fused_op, T::buffer, T::depthwise}), 0},
      {"sfpu_op", "an SFPU op", "", "applied to the result; gelu is what golden can do", kAll, 0},
      {"requant", "true or false", "false", "integer result * scale + zero_point, with the scales as last input",
       bits(OpClass::quant) | bits({T::matmul}), 0},
      {"dequant", "true or false", "false", "(integer result - zero_point) * scale, with the scales as last input",
       bits(OpClass::quant) | bits({T::matmul}), 0},
      {"zero_point", "real", "0", "of quantization, dequantization, requantization, requant and dequant", kAll, 0},
      {"relu_en", "true or false", "false", "clamp the output in the packer", kAll, kAll},
      {"relu_threshold", "real >= 0", "0", "where it clamps", kAll, kAll},
      {"relu_mode", "min, max or none", "none", "min: below the threshold is 0; max: from 0 to the threshold", kAll, kAll},
      {"identity", "true or false", "false", "a sparse matmul: in0 sparse tiles, in1 activations, in2 index tiles", kSparse, 0},
      {"num_index_tiles", "int", "0", "index tiles per core", kSparseOrBuffer, 0},
      {"num_sparse_tiles", "int", "0", "sparse tiles per core", kSparse, 0},
      {"num_columns", "int", "0", "columns of cores that share sparse data", kSparse, 0},
      {"sparse_tile_ptr_bits", "int", "0", "bits of an index word that name the sparse tile", kSparseOrBuffer, 0},
      {"sparse_ublock_idx_bits", "int", "0", "bits of an index word that name the output ublock row", kSparseOrBuffer, 0},
      {"indices_len", "int", "0", "words of the older encoding", kSparse, 0},
      {"fracture_factor", "int", "1", "groups of cores along the columns with sparse data of their own", kSparse, 0},
      {"starting_row", "int", "0", "row of the activations that strip 0 begins with", kSparse, 0},
      {"act_t", "int", "0", "t of the activations", kSparse, 0},
      {"num_nz_strips", "list of int", "", "strips that are not zero, per core", kSparseOrBuffer, 0},
      {"vector", "r, c or rc", "rc", "the SFPU works on the first row of faces, the first column, or all", kAll, kAll},
      {"approximate_mode", "true or false", "false", "a faster, less exact SFPU function", kAll, 0},
      {"sfpu_execution_thread", "math or pack", "math", "the thread that drives the SFPU",
       bits(OpClass::sfpu) | bits({T::matmul, T::fused_op}), 0},
      own("p", "real in [0, 1]", "0", "the probability that a number is dropped; the others are divided by 1 - p"),
      own("seed", "int", "0", "of the random generator"),
      own("slope", "real", "0.01", "factor for negative numbers"),
      own("exp", "int", "0", "the exponent"),
      own("dim", "r, c or z", "", "the side that is reduced"),
      own("type", "max", "", "the reduction; there is no other"),
      {"granularity", "ublock or t", "ublock", "what index, length and stride count", bits({T::splice}), 0},
      {"inputN", "[index, length, stride]", "",
       "of input N: skip index, copy length, go on by stride from the copy's start, and again until the output is full", bits({T::splice}),
       0},
      {"num_indices", "int", "", "rows that are looked up", bits({T::embedding}), 0},
      {"k", "int > 0", "", "how many of each row are kept", bits({T::topk}), 0},
      {"sort", "max or argmax", "max", "whether the output holds the values or their indices", bits({T::topk}), 0},
      {"kreduce", "true or false", "false", "the input is sorted in runs of k already", bits({T::topk}), 0},
      {"fused_op_id", "name", "", "the fused op in section fused_ops", bits({T::fused_op}), 0},
      {"dest_device", "int", "", "the chip that the data goes to", kAll, 0},
      {"ingress_channels", "list of int", "", "ethernet channels that the data comes in by", kAll, 0},
      {"egress_channels", "list of int", "", "ethernet channels that it leaves by", kAll, 0},
      {"kernel_broadcast", "{input_N: tiles}", "", "the kernel keeps that many tiles of input N and reads them again and again", kAll, 0},
      {"kernel_broadcast_per_t", "{input_N: tiles}", "", "the same, begun anew for each t", kAll, 0},
      {"single_tile", "list of int", "", "older spelling of kernel_broadcast of one tile of each of these inputs", kAll, 0},
      {"stoch_rnd_mode", "none, fpu, pack or all", "none", "stochastic rounding", kAll, 0},
      {"srnd_fpu_en", "true or false", "false", "older spelling of stoch_rnd_mode: fpu", kAll, 0},
  };
  return table;
}

namespace {

// The 3 of "input3".
std::optional<std::uint64_t> splice_input(std::string_view key) {
  if (!key.starts_with("input")) return std::nullopt;
  auto number = parse_uint(key.substr(5));
  return number && *number < 1000 ? number : std::nullopt;
}

}  // namespace

const AttributeInfo* find_attribute(std::string_view key) {
  const std::string_view wanted = splice_input(key) ? "inputN" : key;
  for (const AttributeInfo& row : all_attributes())
    if (row.key == wanted) return &row;
  return nullptr;
}

int attribute_number(std::string_view key) {
  const AttributeInfo* row = find_attribute(key);
  if (row == nullptr) return -1;
  // The ranges of splice follow the table.
  if (auto input = splice_input(key)) return static_cast<int>(all_attributes().size() + *input);
  return static_cast<int>(row - all_attributes().data());
}

}  // namespace buda::netlist
