// SPDX-License-Identifier: Apache-2.0
// A machine with a stack, as the format describes it: each opcode pushes a value or combines those on top.
#include "pickle.hpp"

#include <buda/base/text.hpp>

#include <bit>
#include <cstring>
#include <map>
#include <optional>

namespace buda::torchscript {
namespace {

// Opcodes by their names in Python's pickletools.
enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kEmptyDict = '}',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
};

// A byte of a file can be a value here, which takes some hundred bytes of memory.
constexpr std::size_t kMaxValues = 3'000'000;

struct StorageType {
  std::string_view name;
  std::optional<DType> dtype;
  bool complex = false;
};
constexpr StorageType kStorages[] = {
    {"FloatStorage", DType::f32},
    {"DoubleStorage", DType::f64},
    {"HalfStorage", DType::f16},
    {"BFloat16Storage", DType::bf16},
    {"LongStorage", DType::i64},
    {"IntStorage", DType::i32},
    {"ShortStorage", DType::i16},
    {"CharStorage", DType::i8},
    {"ByteStorage", DType::u8},
    {"BoolStorage", DType::boolean},
    {"QInt8Storage", std::nullopt},
    {"QUInt8Storage", std::nullopt},
    {"QInt32Storage", std::nullopt},
    {"ComplexFloatStorage", DType::f32, true},
    {"ComplexDoubleStorage", DType::f64, true},
};

const StorageType* find_storage(std::string_view name) {
  for (const auto& s : kStorages)
    if (cat("torch ", s.name) == name) return &s;
  return nullptr;
}

// What TorchScript's pickler writes besides classes of the archive's code and storages.
constexpr std::string_view kFunctions[] = {
    "torch._utils _rebuild_tensor_v2",
    "torch.jit._pickle build_intlist",
    "torch.jit._pickle build_tensorlist",
    "torch.jit._pickle build_doublelist",
    "torch.jit._pickle build_boollist",
    "torch.jit._pickle restore_type_tag",
    "collections OrderedDict",
    "torch device",
};

bool is_known_name(std::string_view name) {
  for (auto f : kFunctions)
    if (f == name) return true;
  return name.starts_with("__torch__") || find_storage(name) != nullptr;
}

// Of tensors that are not plain ones: what they are, and what to save instead.
std::string_view other_tensor(std::string_view function) {
  if (function == "torch._utils _rebuild_qtensor") return "a quantised tensor, which is not read: save the model in float32";
  if (function == "torch._utils _rebuild_sparse_tensor" || function == "torch._utils _rebuild_sparse_csr_tensor")
    return "a sparse tensor, which is not read: save it with to_dense()";
  return {};
}

class PickleReader {  // wide because it has a function for each kind of opcode
 public:
  PickleReader(const Archive& archive, const std::string& member, std::string_view bytes)
      : archive_(archive), member_(member), bytes_(bytes) {}

  Result<PickleFile> read() {
    while (true) {
      BUDA_ASSIGN(std::uint64_t opcode, number(1));
      if (opcode == kStop) break;
      BUDA_TRY(step(static_cast<unsigned char>(opcode)));
      if (file_.values.size() > kMaxValues) return error("TS003", cat("has more than ", kMaxValues, " values, which no model needs"));
    }
    if (stack_.size() != 1 || !marks_.empty()) return damaged("ends with more than one value");
    file_.root = stack_.back();
    return std::move(file_);
  }

 private:
  Diagnostic error(std::string_view code, std::string_view what) const {
    return archive_.error(code, cat("its member '", member_, "' ", what, " (at byte ", at_, ")"));
  }
  Diagnostic damaged(std::string_view what) const { return error("TS002", cat("is not a complete pickle: it ", what)); }

  // ---- bytes

  Result<std::string_view> take(std::size_t count) {
    if (count > bytes_.size() - at_) return damaged("is cut off");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  // Little endian.
  Result<std::uint64_t> number(std::size_t count) {
    BUDA_ASSIGN(auto bytes, take(count));
    std::uint64_t out = 0;
    for (std::size_t i = count; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[i]);
    return out;
  }
  Result<std::string_view> line() {
    auto end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) return damaged("has a name without an end");
    auto out = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }

  // ---- the stack

  Pickled* push(Pickled::Kind kind) {
    file_.values.push_back({});
    file_.values.back().kind = kind;
    stack_.push_back(&file_.values.back());
    return stack_.back();
  }
  std::size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }
  Result<Pickled*> pop() {
    if (stack_.size() <= bottom()) return damaged("takes a value where there is none");
    Pickled* out = stack_.back();
    stack_.pop_back();
    return out;
  }
  Result<Pickled*> top(Pickled::Kind kind, std::string_view name) {
    if (stack_.size() <= bottom() || stack_.back()->kind != kind) return damaged(cat("has no ", name, " where it adds to one"));
    return stack_.back();
  }
  Result<std::vector<Pickled*>> pop_to_mark() {
    if (marks_.empty()) return damaged("ends a list that it did not begin");
    std::vector<Pickled*> out(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return out;
  }

  // ---- opcodes

  Result<void> step(unsigned char opcode) {
    switch (opcode) {
      case kProto:
        return read_version();
      case kMark:
        marks_.push_back(stack_.size());
        return success();
      case kPop:
        if (auto popped = pop(); !popped) return std::move(popped).failure();
        return success();
      case kPopMark:
        if (auto popped = pop_to_mark(); !popped) return std::move(popped).failure();
        return success();
      case kNone:
        push(Pickled::Kind::none);
        return success();
      case kNewTrue:
      case kNewFalse:
        push(Pickled::Kind::boolean)->boolean = opcode == kNewTrue;
        return success();
      case kEmptyTuple:
        push(Pickled::Kind::tuple);
        return success();
      case kEmptyList:
        push(Pickled::Kind::list);
        return success();
      case kEmptyDict:
        push(Pickled::Kind::dictionary);
        return success();
      case kBinInt:
      case kBinInt1:
      case kBinInt2:
      case kLong1:
      case kBinFloat:
        return read_number(opcode);
      case kBinUnicode:
      case kBinString:
      case kShortBinString:
        return read_text(opcode == kShortBinString ? 1 : 4);
      case kGlobal:
        return read_name();
      case kBinGet:
      case kLongBinGet:
      case kBinPut:
      case kLongBinPut:
        return use_memory(opcode);
      default:
        return combine(opcode);
    }
  }

  Result<void> combine(unsigned char opcode) {
    switch (opcode) {
      case kTuple:
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return make_tuple(opcode);
      case kAppend:
      case kAppends:
        return append(opcode == kAppends, Pickled::Kind::list, "list");
      case kSetItem:
      case kSetItems:
        return append(opcode == kSetItems, Pickled::Kind::dictionary, "dictionary");
      case kBinPersId:
        return refer_to_storage();
      case kNewObj:
        return make_object();
      case kBuild:
        return set_state();
      case kReduce:
        return call();
      default:
        return error("TS003", cat("has opcode ", hex_text(opcode), ", which TorchScript does not write"));
    }
  }

  Result<void> read_version() {
    BUDA_ASSIGN(auto version, number(1));
    if (version != 2) return error("TS003", cat("is of version ", version, " of the pickle format; TorchScript writes 2"));
    return success();
  }

  Result<void> read_number(unsigned char opcode) {
    if (opcode == kBinFloat) {  // the only one that is big endian
      BUDA_ASSIGN(auto bytes, take(8));
      std::uint64_t bits = 0;
      for (char c : bytes) bits = bits << 8 | static_cast<unsigned char>(c);
      push(Pickled::Kind::real)->real = std::bit_cast<double>(bits);
      return success();
    }
    std::size_t count = opcode == kBinInt ? 4 : opcode == kBinInt2 ? 2 : 1;
    if (opcode == kLong1) {
      BUDA_ASSIGN(count, number(1));
      if (count > 8) return error("TS003", cat("has an integer of ", count, " bytes; at most 8 are supported"));
    }
    BUDA_ASSIGN(std::uint64_t bits, number(count));
    bool is_signed = opcode == kBinInt || opcode == kLong1;
    if (is_signed && count > 0 && count < 8 && (bits >> (8 * count - 1) & 1) != 0) bits |= ~std::uint64_t{0} << (8 * count);
    push(Pickled::Kind::integer)->integer = static_cast<std::int64_t>(bits);
    return success();
  }

  Result<void> read_text(std::size_t length_bytes) {
    BUDA_ASSIGN(auto length, number(length_bytes));
    BUDA_ASSIGN(auto text, take(length));
    if (!is_valid_utf8(text)) return damaged("has a text that is not UTF-8");
    push(Pickled::Kind::text)->text = text;
    return success();
  }

  Result<void> read_name() {
    BUDA_ASSIGN(auto module, line());
    BUDA_ASSIGN(auto name, line());
    std::string full = cat(module, ' ', name);
    if (!is_valid_utf8(full)) return damaged("has a name that is not UTF-8");
    if (auto what = other_tensor(full); !what.empty()) return error("TS005", cat("has ", what));
    if (!is_known_name(full))
      return error("TS003", cat("refers to '", module, '.', name, "', which TorchScript does not write; nothing of it is run"));
    push(Pickled::Kind::name)->text = std::move(full);
    return success();
  }

  Result<void> use_memory(unsigned char opcode) {
    BUDA_ASSIGN(auto place, number(opcode == kBinGet || opcode == kBinPut ? 1 : 4));
    if (opcode == kBinPut || opcode == kLongBinPut) {
      if (stack_.size() <= bottom()) return damaged("keeps a value where there is none");
      memory_[place] = stack_.back();
      return success();
    }
    auto it = memory_.find(place);
    if (it == memory_.end()) return damaged(cat("uses value ", place, ", which it did not keep"));
    stack_.push_back(it->second);
    return success();
  }

  Result<void> make_tuple(unsigned char opcode) {
    std::vector<Pickled*> items;
    if (opcode == kTuple) {
      BUDA_ASSIGN(items, pop_to_mark());
    } else {
      items.resize(static_cast<std::size_t>(opcode - kTuple1) + 1);
      for (std::size_t i = items.size(); i-- > 0;) {
        BUDA_ASSIGN(items[i], pop());
      }
    }
    push(Pickled::Kind::tuple)->items = std::move(items);
    return success();
  }

  Result<void> append(bool many, Pickled::Kind kind, std::string_view name) {
    std::vector<Pickled*> items;
    if (many) {
      BUDA_ASSIGN(items, pop_to_mark());
    } else {
      items.resize(kind == Pickled::Kind::dictionary ? 2 : 1);
      for (std::size_t i = items.size(); i-- > 0;) {
        BUDA_ASSIGN(items[i], pop());
      }
    }
    if (kind == Pickled::Kind::dictionary && items.size() % 2 != 0) return damaged("has a key without a value");
    BUDA_ASSIGN(Pickled * to, top(kind, name));
    to->items.insert(to->items.end(), items.begin(), items.end());
    return success();
  }

  // ("storage", type, key, place, number of elements)
  Result<void> refer_to_storage() {
    BUDA_ASSIGN(Pickled * id, pop());
    const auto& parts = id->items;
    if (id->kind != Pickled::Kind::tuple || parts.size() < 3 || parts[0]->text != "storage" || parts[2]->kind != Pickled::Kind::text)
      return damaged("refers to something that is not a storage");
    const StorageType* type = find_storage(parts[1]->text);
    if (type == nullptr) return damaged("has a storage of no type");
    Storage storage{type->dtype.value_or(DType::u8), type->dtype ? "" : std::string(type->name), parts[2]->text, type->complex};
    push(Pickled::Kind::storage)->storage = std::move(storage);
    return success();
  }

  Result<void> make_object() {
    BUDA_ASSIGN(Pickled * arguments, pop());
    BUDA_ASSIGN(Pickled * type, pop());
    if (type->kind != Pickled::Kind::name || !type->text.starts_with("__torch__") || arguments->kind != Pickled::Kind::tuple)
      return damaged("makes an object of no class of the archive");
    std::string name = type->text;
    name[name.find(' ')] = '.';
    push(Pickled::Kind::object)->text = std::move(name);
    return success();
  }

  Result<void> set_state() {
    BUDA_ASSIGN(Pickled * state, pop());
    BUDA_ASSIGN(Pickled * object, top(Pickled::Kind::object, "object"));
    object->items = state->kind == Pickled::Kind::dictionary ? state->items : std::vector<Pickled*>{nullptr, state};
    return success();
  }

  Result<void> call() {
    BUDA_ASSIGN(Pickled * arguments, pop());
    BUDA_ASSIGN(Pickled * function, pop());
    if (function->kind != Pickled::Kind::name || arguments->kind != Pickled::Kind::tuple)
      return damaged("calls something that has no name");
    const auto& a = arguments->items;
    if (function->text == "torch._utils _rebuild_tensor_v2") return make_tensor(a);
    if (function->text == "collections OrderedDict") {
      push(Pickled::Kind::dictionary);
      return success();
    }
    if (function->text == "torch device" && !a.empty() && a[0]->kind == Pickled::Kind::text) {
      push(Pickled::Kind::device)->text = a[0]->text;
      return success();
    }
    // Lists of one type, and lists and dictionaries with the name of their type: what they are made of.
    bool listed = function->text.starts_with("torch.jit._pickle ") && !a.empty() &&
                  (a[0]->kind == Pickled::Kind::list || a[0]->kind == Pickled::Kind::dictionary || a[0]->kind == Pickled::Kind::tuple);
    if (listed) {
      stack_.push_back(a[0]);
      return success();
    }
    return damaged(cat("calls '", function->text, "' with other arguments than TorchScript does"));
  }

  static bool integers(const Pickled& from, std::vector<std::int64_t>& to) {
    if (from.kind != Pickled::Kind::tuple) return false;
    for (const Pickled* item : from.items) {
      if (item->kind != Pickled::Kind::integer) return false;
      to.push_back(item->integer);
    }
    return true;
  }

  // (storage, first element, sizes, strides, …)
  Result<void> make_tensor(const std::vector<Pickled*>& a) {
    std::vector<std::int64_t> sizes, strides;
    bool fits = a.size() >= 4 && a[0]->kind == Pickled::Kind::storage && a[1]->kind == Pickled::Kind::integer && integers(*a[2], sizes) &&
                integers(*a[3], strides) && sizes.size() == strides.size();
    if (!fits) return damaged("has a tensor without a storage, sizes or strides");
    Pickled* tensor = push(Pickled::Kind::tensor);
    tensor->storage = a[0]->storage;
    tensor->integer = a[1]->integer;
    tensor->sizes = std::move(sizes);
    tensor->strides = std::move(strides);
    return success();
  }

  const Archive& archive_;
  const std::string& member_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  PickleFile file_;
  std::vector<Pickled*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Pickled*> memory_;
};

}  // namespace

Result<PickleFile> read_pickle(const Archive& archive, const std::string& member) {
  const io::Bytes* bytes = archive.find(member);
  if (bytes == nullptr) return archive.error("TS002", cat("has no member '", member, '\''));
  return PickleReader(archive, member, bytes->view()).read();
}

}  // namespace buda::torchscript
