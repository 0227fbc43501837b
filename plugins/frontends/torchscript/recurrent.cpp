// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and plain recurrent layers, one op of ours for each layer.
//
// PyTorch has weights of each direction by themselves, with gates in another order than our ops, which have ONNX's: they are put together
// while importing, since they are known.
#include "projections.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstring>

namespace buda::torchscript {
namespace {

struct Layer {
  std::string_view op;
  std::vector<std::size_t> order;  // gate i of ours is gate order[i] of PyTorch's
  std::string_view activation = {};
};

Layer layer_kind(std::string_view name) {
  if (name == "lstm") return {"lstm", {0, 3, 1, 2}};
  if (name == "gru") return {"gru", {1, 0, 2}};
  return {"rnn", {0}, name == "rnn_relu" ? "relu" : "tanh"};
}

// Of `count` numbers: for each place from 0 to `places` how many are above it, in I64. That is how lengths of sequences, the longest first,
// become numbers of sequences for each step, and the other way round.
Ref numbers_above_places(Call& n, Ref numbers, std::int64_t count, std::int64_t places, std::string_view name) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(places));
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int64_t>(i);
  Ref row = n.constant(Tensor(Shape{places}, std::move(at)));
  Ref column = n.step("numbers").reshape(numbers, Shape{count, 1});
  Ref above = n.step("above").op("greater", {column, row});
  Ref ones = n.cast(above, DType::i64, "ones");
  return n.step(name).reduce_sum(ones, {0}, false);
}

class Recurrent {
 public:
  Recurrent(Call& n, Layer kind, bool packed) : n_(n), layer_kind_(std::move(kind)), packed_(packed) {}

  Result<Value> import() {
    BUDA_TRY(read_arguments());
    Ref x = n_.ref("input");
    if (batch_first_) x = n_.step("x").transpose(x, {1, 0, 2});
    std::vector<graph::Edge> last_h, last_c;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      BUDA_ASSIGN(Ref y, layer_of(layer, x));
      if (!y.valid()) return Value(Failed{});
      last_h.emplace_back(Ref(y.node, 1));
      if (lstm()) last_c.emplace_back(Ref(y.node, 2));
      // [steps, directions, batch, hidden]: directions side by side.
      Ref order = n_.step("order").transpose(y, {0, 2, 1, 3});
      x = n_.step("layer").reshape(order, Shape{steps_, batch_, directions_ * hidden_});
    }
    if (batch_first_) x = n_.step("y").transpose(x, {1, 0, 2});
    std::vector<Value> results{n_.tensor(x), n_.tensor(joined("h", std::move(last_h)))};
    if (lstm()) results.push_back(n_.tensor(joined("c", std::move(last_c))));
    return tuple_of(std::move(results));
  }

 private:
  bool lstm() const { return layer_kind_.op == "lstm"; }
  Ref joined(std::string_view name, std::vector<graph::Edge> parts) {
    return parts.size() == 1 ? parts[0].source : n_.step(name).concatenate(std::move(parts), 0);
  }

  Result<void> read_arguments() {
    BUDA_ASSIGN(biases_, n_.flag_or("has_biases", true));
    BUDA_ASSIGN(layers_, n_.integer("num_layers"));
    BUDA_ASSIGN(bool train, n_.flag_or("train", false));
    BUDA_ASSIGN(double dropout, n_.real_or("dropout", 0));
    BUDA_ASSIGN(bool both, n_.flag_or("bidirectional", false));
    BUDA_ASSIGN(batch_first_, n_.flag_or("batch_first", false));
    if (train && dropout != 0) return n_.refuse("is in training mode, where results are random");
    directions_ = both ? 2 : 1;
    BUDA_ASSIGN(Shape x, n_.shape("input"));
    if (x.rank() != 3) return n_.refuse(cat("its input is ", x.text(), "; steps, samples and features are needed"));
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    const auto* params = n_["params"].as<SequenceRef>();
    if (params == nullptr) return n_.refuse(wrong_argument("params", n_["params"], "a list"));
    params_ = (*params)->items;
    const auto each = static_cast<std::size_t>(biases_ ? 4 : 2);
    if (layers_ < 1 || layers_ > 1000 || params_.size() != each * static_cast<std::size_t>(layers_ * directions_))
      return n_.refuse(cat("has ", params_.size(), " weights for ", layers_, " layers of ", directions_, " directions"));
    BUDA_ASSIGN(Tensor recurrent, weight(1));
    if (recurrent.shape().rank() != 2) return n_.refuse(cat("its recurrent weights are ", recurrent.describe()));
    hidden_ = recurrent.shape()[1];
    return success();
  }

  Result<Tensor> weight(std::size_t i) {
    const Tensor* known = n_.known_or_null(params_[i]);
    if (known == nullptr) return n_.refuse("has weights that are computed at run time");
    return *known;
  }

  // Of the weights at the same place of each direction: [directions, rows, …], their gates in our order. Two lists of biases are one after
  // the other.
  Result<Ref> weights_of(std::int64_t layer, std::size_t first, std::size_t count, std::string_view name) {
    const auto gates = static_cast<std::int64_t>(layer_kind_.order.size());
    const std::size_t each = biases_ ? 4 : 2;
    std::string bytes;
    Shape shape;
    for (std::int64_t d = 0; d < directions_; ++d)
      for (std::size_t i = first; i < first + count; ++i) {
        BUDA_ASSIGN(Tensor t, weight(each * static_cast<std::size_t>(layer * directions_ + d) + i));
        if (t.dtype() != DType::f32 || t.shape().rank() < 1 || t.shape()[0] != gates * hidden_)
          return n_.refuse(cat("has weights ", t.describe(), "; F32 with ", gates * hidden_, " rows is needed"));
        if (shape.rank() != 0 && shape != t.shape()) return n_.refuse("has weights of different shapes");
        shape = t.shape();
        const std::size_t gate_bytes = t.bytes().size() / layer_kind_.order.size();
        for (std::size_t gate : layer_kind_.order) bytes += t.bytes().substr(gate * gate_bytes, gate_bytes);
      }
    Dims sizes{directions_, static_cast<std::int64_t>(count) * shape[0]};
    sizes.insert(sizes.end(), shape.begin() + 1, shape.end());
    BUDA_ASSIGN(Tensor all, Tensor::from_bytes(DType::f32, Shape(std::move(sizes)), io::Bytes(std::move(bytes))));
    auto operand = frontend::known_value(cat(node(), '.', name, layer), std::move(all), frontend::Role::weight, node());
    return n_.state().store.ref(operand);
  }

  std::string node() const { return n_.place().module.empty() ? std::string(n_.importer().name) : n_.place().module; }

  // The states of a layer's directions, of those of all layers.
  Result<Ref> state_of(std::size_t i, std::int64_t layer) {
    const Value* given = &n_["hx"];
    if (const auto* list = given->as<SequenceRef>()) {
      if (i >= (*list)->items.size()) return n_.refuse("has fewer states than it needs");
      given = &(*list)->items[i];
    }
    Ref all = n_.value_ref(*given);
    if (layers_ == 1) return all;
    return n_.step("state").slice(all, 0, layer * directions_, (layer + 1) * directions_);
  }

  Result<Ref> layer_of(std::int64_t layer, Ref x) {
    BUDA_ASSIGN(Ref w, weights_of(layer, 0, 1, "weight_ih_l"));
    BUDA_ASSIGN(Ref r, weights_of(layer, 1, 1, "weight_hh_l"));
    const auto gates = static_cast<std::int64_t>(layer_kind_.order.size());
    Ref b;
    if (biases_) {
      BUDA_ASSIGN(b, weights_of(layer, 2, 2, "bias_l"));
    } else {
      BUDA_ASSIGN(b, zeros({directions_, 2 * gates * hidden_}));
    }
    if (batch_ > (1 << 24) || steps_ > 0x7fffffff) return n_.refuse("has sequences that are too long");
    Ref lengths = packed_ ? n_.cast(numbers_above_places(n_, n_.ref("batch_sizes"), steps_, batch_, "lengths"), DType::i32, "lengths")
                          : n_.constant(Tensor(Shape{batch_}, std::vector<std::int32_t>(static_cast<std::size_t>(batch_),
                                                                                        static_cast<std::int32_t>(steps_))));
    BUDA_ASSIGN(Ref h, state_of(0, layer));
    std::vector<graph::Edge> inputs{x, w, r, b, lengths, h};
    if (lstm()) {
      BUDA_ASSIGN(Ref c, state_of(1, layer));
      BUDA_ASSIGN(Ref p, zeros({directions_, 3 * hidden_}));
      inputs.insert(inputs.end(), {c, p});
    }
    ops::AttrMap attrs;
    if (directions_ == 2) attrs["direction"] = std::string("bidirectional");
    if (layer_kind_.op == "gru") attrs["linear_before_reset"] = true;
    if (layer_kind_.activation == "relu") attrs["activations"] = std::vector<std::string>(static_cast<std::size_t>(directions_), "relu");
    return n_.result().op(layer_kind_.op, std::move(inputs), std::move(attrs));
  }

  Result<Ref> zeros(const Shape& shape) {
    BUDA_ASSIGN(Tensor t, Tensor::zeros(DType::f32, shape));
    return n_.constant(std::move(t));
  }

  Call& n_;
  Layer layer_kind_;
  bool packed_ = false;  // sequences of lengths of their own
  bool biases_ = true, batch_first_ = false;
  std::int64_t layers_ = 1, directions_ = 1, steps_ = 0, batch_ = 0, hidden_ = 0;
  std::vector<Value> params_;
};

constexpr std::string_view kParameters = "input hx params has_biases num_layers dropout train bidirectional batch_first";
constexpr std::string_view kPackedParameters = "input batch_sizes hx params has_biases num_layers dropout train bidirectional";

Result<Value> import_recurrent(Call& n) {
  const bool packed = n["has_biases"].is<SequenceRef>();
  const OpImporter with_lengths{n.importer().name, kPackedParameters};
  const Layer kind = layer_kind(n.importer().name);
  if (packed) BUDA_TRY(n.bind(with_lengths, {}));
  auto made = has_projections(n) ? import_projected_lstm(n) : Recurrent(n, kind, packed).import();
  return made;
}

// ---- packed sequences: here the sequences as they were, steps first, and for each step the number of sequences that have it (PyTorch's
// batch_sizes; zeros where all sequences are shorter than the input)

Result<Value> import_pack(Call& n) {
  BUDA_ASSIGN(Shape x, n.shape("input"));
  BUDA_ASSIGN(Shape lengths, n.shape("lengths"));
  BUDA_ASSIGN(bool batch_first, n.flag_or("batch_first", false));
  if (x.rank() < 2 || lengths != Shape{x[batch_first ? 0 : 1]})
    return n.refuse(cat("its input is ", x.text(), " and its lengths ", lengths.text()));
  Ref value = n.ref("input");
  if (batch_first) {
    Dims order{1, 0};
    for (std::size_t i = 2; i < x.rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
    value = n.result().transpose(value, std::move(order));
  }
  Ref given = n.cast(n.ref("lengths"), DType::i64, "lengths");
  return tuple_of({n.tensor(value), n.tensor(numbers_above_places(n, given, lengths[0], x[batch_first ? 1 : 0], "batch_sizes"))});
}

// What lies after the end of a sequence is the padding.
Result<Value> import_unpack(Call& n) {
  BUDA_ASSIGN(auto type, n.type("data"));
  BUDA_ASSIGN(bool batch_first, n.flag_or("batch_first", false));
  BUDA_ASSIGN(double padding, n.real_or("padding_value", 0));
  const Shape& x = type.shape;
  BUDA_ASSIGN(auto length, n.integer_or("total_length", x.rank() == 0 ? 0 : x[0]));
  BUDA_ASSIGN(auto sizes, n.type("batch_sizes"));
  if (x.rank() < 2 || sizes.shape != Shape{x[0]} || length < x[0])
    return n.refuse(cat("its data is ", x.text(), ", its total_length ", length, " and its batch_sizes ", sizes.shape.text()));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(x[0]));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  Ref steps = n.constant(Tensor(Shape{x[0], 1}, std::move(numbers)));
  Ref lengths = numbers_above_places(n, n.ref("batch_sizes"), x[0], x[1], "lengths");
  Ref inside = n.step("inside").op("less", {steps, lengths});
  Dims mask{x[0], x[1]};
  mask.resize(x.rank(), 1);
  inside = n.step("mask").reshape(inside, Shape(std::move(mask)));
  Ref value = n.ref("data"), outside = n.number(padding, type.dtype);
  value = n.step("padded").op("where", {inside, value, outside});
  if (length > x[0]) {
    Dims before(x.rank(), 0), after(x.rank(), 0);
    after[0] = length - x[0];
    value = n.step("longer").pad(value, before, after, padding);
  }
  if (batch_first) {
    Dims order{1, 0};
    for (std::size_t i = 2; i < x.rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
    value = n.result().transpose(value, std::move(order));
  }
  return tuple_of({n.tensor(value), n.tensor(lengths)});
}

constexpr OpImporter kRecurrentOps[] = {
    {"_pack_padded_sequence", "input lengths batch_first", import_pack, "", ""},
    {"_pad_packed_sequence", "data batch_sizes batch_first padding_value total_length", import_unpack, "",
     "the result is as long as the input was"},
    {"gru", kParameters, import_recurrent},
    {"lstm", kParameters, import_recurrent, "", "with projections step by step, without packed sequences"},
    {"rnn_relu", kParameters, import_recurrent},
    {"rnn_tanh", kParameters, import_recurrent},
};

}  // namespace

std::span<const OpImporter> recurrent_ops() { return kRecurrentOps; }

}  // namespace buda::torchscript
