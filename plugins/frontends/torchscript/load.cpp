// SPDX-License-Identifier: Apache-2.0
// From pickles to values.
#include "load.hpp"

#include "pickle.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cstring>

namespace buda::torchscript {
namespace {

// Lists within lists; objects are not limited, since they are gone through one after the other.
constexpr int kDeepestData = 100;

// In the order of PyTorch's ScalarType.
constexpr std::pair<std::int64_t, DType> kTypes[] = {
    {0, DType::u8},  {1, DType::i8},  {2, DType::i16}, {3, DType::i32},      {4, DType::i64},
    {5, DType::f16}, {6, DType::f32}, {7, DType::f64}, {11, DType::boolean}, {15, DType::bf16},
};

class Loader {
 public:
  Loader(const Archive& archive, Loaded& out) : archive_(archive), out_(out) {}

  // `folder` is that of the pickle's storages.
  Result<Value> value(const PickleFile& file, std::string folder, const std::string& name) {
    folder_ = std::move(folder);
    made_.clear();
    BUDA_ASSIGN(Value root, convert(*file.root, name, 0));
    while (!open_.empty()) {
      auto [from, to] = open_.front();
      open_.pop_front();
      BUDA_TRY(fill(*from, *to));
    }
    return root;
  }

 private:
  Result<Value> convert(const Pickled& p, const std::string& name, int depth) {
    if (depth > kDeepestData) return archive_.error("TS003", cat("'", name, "' is nested too deeply"));
    switch (p.kind) {
      case Pickled::Kind::none:
        return Value(Nothing{});
      case Pickled::Kind::boolean:
        return Value(p.boolean);
      case Pickled::Kind::integer:
        return Value(p.integer);
      case Pickled::Kind::real:
        return Value(p.real);
      case Pickled::Kind::text:
      case Pickled::Kind::device:
        return Value(p.text);
      case Pickled::Kind::object:
        return object(p, name);
      case Pickled::Kind::tensor:
        return tensor(p, name);
      case Pickled::Kind::tuple:
      case Pickled::Kind::list:
      case Pickled::Kind::dictionary:
        return collection(p, name, depth);
      case Pickled::Kind::name:
      case Pickled::Kind::storage:
        break;
    }
    return archive_.error("TS003", cat("'", name, "' is a value of a kind that TorchScript does not write"));
  }

  // Its fields come later: objects may refer to each other, and the first path to one from the outside is its name.
  Result<Value> object(const Pickled& p, const std::string& name) {
    auto [it, first] = made_.try_emplace(&p, Value());
    if (first) {
      out_.objects.push_back({p.text, name, {}});
      it->second = Value(&out_.objects.back());
      open_.emplace_back(&p, &out_.objects.back());
    }
    return it->second;
  }

  Result<void> fill(const Pickled& p, Object& object) {
    for (std::size_t i = 0; i + 1 < p.items.size(); i += 2) {
      if (p.items[i] == nullptr || p.items[i]->kind != Pickled::Kind::text) {
        // A class that packs itself; what it holds is not known here.
        object.fields.insert_or_assign("__state__", Value(Failed{}));
        continue;
      }
      const std::string& field = p.items[i]->text;
      BUDA_ASSIGN(Value value, convert(*p.items[i + 1], object.path.empty() ? field : cat(object.path, '.', field), 0));
      object.fields.insert_or_assign(field, std::move(value));
    }
    return success();
  }

  // Made once however often it is referred to.
  Result<Value> collection(const Pickled& p, const std::string& name, int depth) {
    if (auto it = made_.find(&p); it != made_.end()) return it->second;
    BUDA_ASSIGN(Value out, p.kind == Pickled::Kind::dictionary ? mapping(p, name, depth) : sequence(p, name, depth));
    made_.emplace(&p, out);
    return out;
  }

  Result<Value> sequence(const Pickled& p, const std::string& name, int depth) {
    std::vector<Value> items;
    for (std::size_t i = 0; i < p.items.size(); ++i) {
      BUDA_ASSIGN(Value item, convert(*p.items[i], cat(name, '.', i), depth + 1));
      items.push_back(std::move(item));
    }
    return p.kind == Pickled::Kind::list ? list_of(std::move(items)) : tuple_of(std::move(items));
  }

  Result<Value> mapping(const Pickled& p, const std::string& name, int depth) {
    auto out = std::make_shared<Mapping>();
    for (std::size_t i = 0; i + 1 < p.items.size(); i += 2) {
      BUDA_ASSIGN(Value key, convert(*p.items[i], name, depth + 1));
      const auto* text = key.as<std::string>();
      BUDA_ASSIGN(Value item, convert(*p.items[i + 1], text != nullptr ? cat(name, '.', *text) : name, depth + 1));
      out->items.emplace_back(std::move(key), std::move(item));
    }
    return Value(out);
  }

  Result<Value> tensor(const Pickled& p, const std::string& name) {
    auto [it, first] = made_.try_emplace(&p, Value());
    if (!first) return it->second;
    if (!p.storage.unreadable.empty()) {
      out_.faults.push_back(cat("'", name, "' is a tensor with elements of ", p.storage.unreadable, ", which is not supported"));
      it->second = Value(Failed{});
      return it->second;
    }
    if (p.storage.complex) {
      BUDA_ASSIGN(it->second, complex_tensor(p, name));
      return it->second;
    }
    BUDA_ASSIGN(Tensor elements, elements_of(p, name));
    // What tracing made of a number of the program.
    const bool number = folder_ == "constants/" && elements.shape().rank() == 0 && dtype_size(elements.dtype()) == 8;
    const bool weight = is_float(elements.dtype()) && elements.shape().rank() > 0;
    auto cell =
        new_cell(frontend::known_value(name, std::move(elements), weight ? frontend::Role::weight : frontend::Role::constant, name));
    cell->state = name;
    cell->number = number;
    it->second = Value(std::move(cell));
    return it->second;
  }

  // One number of each pair, as a tensor of the pickle that has every second element of the storage.
  Result<Value> complex_tensor(const Pickled& p, const std::string& name) {
    Value parts[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      constexpr std::int64_t kLargestPlace = std::int64_t{1} << 60;
      Pickled part = p;
      for (auto& stride : part.strides) {
        if (stride > kLargestPlace || stride < -kLargestPlace)
          return archive_.error("TS005", cat("tensor '", name, "' has the impossible stride ", stride));
        stride *= 2;
      }
      if (part.integer < 0 || part.integer > kLargestPlace)
        return archive_.error("TS005", cat("tensor '", name, "' begins outside its storage"));
      part.integer = 2 * part.integer + i;
      const std::string of = cat(name, i == 0 ? ".real" : ".imaginary");
      BUDA_ASSIGN(Tensor elements, elements_of(part, of));
      auto cell = new_cell(frontend::known_value(of, std::move(elements), frontend::Role::weight, name));
      cell->state = name;
      parts[i] = Value(std::move(cell));
    }
    return complex_of(std::move(parts[0]), std::move(parts[1]));
  }

  Result<Tensor> elements_of(const Pickled& p, const std::string& name) {
    auto wrong = [&](std::string_view what) { return archive_.error("TS005", cat("tensor '", name, "' ", what)); };
    const std::string member = cat(folder_, p.storage.key);
    const io::Bytes* storage = archive_.find(member);
    if (storage == nullptr) return wrong(cat("has its elements in '", member, "', which the archive does not have"));
    const auto size = static_cast<std::int64_t>(dtype_size(p.storage.dtype));
    const Shape shape(p.sizes);
    const auto bytes = tensor_bytes(p.storage.dtype, shape);
    if (!bytes) return wrong(cat("has the impossible shape ", shape.text()));
    const std::int64_t stored = static_cast<std::int64_t>(storage->size()) / size, volume = *bytes / size;
    if (volume == 0) return Tensor::from_bytes(p.storage.dtype, shape, storage->slice(0, 0));
    // The last element's place; sizes are at least 1 here, and each step is checked, so that nothing overflows.
    std::int64_t last = p.integer;
    bool inside = last >= 0 && last < stored;
    for (std::size_t i = 0; i < p.sizes.size() && inside; ++i) {
      inside = p.strides[i] >= 0 && (p.sizes[i] == 1 || p.strides[i] <= (stored - 1 - last) / (p.sizes[i] - 1));
      if (inside) last += p.sizes[i] == 1 ? 0 : p.strides[i] * (p.sizes[i] - 1);
    }
    if (!inside) return wrong(cat("of shape ", shape.text(), " lies outside its storage of ", stored, " elements"));
    if (is_dense(p, shape))
      return Tensor::from_bytes(p.storage.dtype, shape,
                                storage->slice(static_cast<std::size_t>(p.integer * size), static_cast<std::size_t>(*bytes)));
    if (*bytes > frontend::kLargestKnown && volume > stored)
      return wrong(cat("of shape ", shape.text(), " repeats elements of a small storage; it is too large"));
    return gathered(p, shape, storage->view());
  }

  static bool is_dense(const Pickled& p, const Shape& shape) {
    auto strides = shape.strides();
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (shape[i] != 1 && strides[i] != p.strides[i]) return false;
    return true;
  }

  // Elements that lie in another order: a transposed or expanded view of a storage.
  static Result<Tensor> gathered(const Pickled& p, const Shape& shape, std::string_view storage) {
    const std::size_t size = dtype_size(p.storage.dtype);
    const auto volume = static_cast<std::size_t>(*shape.volume());
    std::string out(volume * size, '\0');
    std::vector<std::int64_t> index(shape.rank(), 0);
    std::int64_t at = p.integer;
    for (std::size_t i = 0; i < volume; ++i) {
      std::memcpy(out.data() + i * size, storage.data() + static_cast<std::size_t>(at) * size, size);
      for (std::size_t axis = shape.rank(); axis-- > 0;) {
        at += p.strides[axis];
        if (++index[axis] < shape[axis]) break;
        at -= p.strides[axis] * shape[axis];
        index[axis] = 0;
      }
    }
    return Tensor::from_bytes(p.storage.dtype, shape, io::Bytes(std::move(out)));
  }

  const Archive& archive_;
  Loaded& out_;
  std::string folder_;
  std::map<const Pickled*, Value> made_;
  std::deque<std::pair<const Pickled*, Object*>> open_;
};

}  // namespace

Result<Loaded> load_values(const Archive& archive) {
  Loaded out;
  Loader loader(archive, out);
  BUDA_ASSIGN(PickleFile data, read_pickle(archive, "data.pkl"));
  BUDA_ASSIGN(Value model, loader.value(data, "data/", ""));
  if (!model.is<Object*>()) return archive.error("TS003", "holds no model: its data is not an object of a class");
  out.model = *model.as<Object*>();
  if (archive.find("constants.pkl") != nullptr) {
    BUDA_ASSIGN(PickleFile pickle, read_pickle(archive, "constants.pkl"));
    BUDA_ASSIGN(Value constants, loader.value(pickle, "constants/", "constants"));
    if (const auto* list = constants.as<SequenceRef>()) out.constants = (*list)->items;
  }
  return out;
}

std::optional<DType> dtype_of_code(std::int64_t code) {
  for (const auto& [number, dtype] : kTypes)
    if (number == code) return dtype;
  return std::nullopt;
}

std::int64_t code_of_dtype(DType dtype) {
  for (const auto& [number, known] : kTypes)
    if (known == dtype) return number;
  return 6;
}

}  // namespace buda::torchscript
