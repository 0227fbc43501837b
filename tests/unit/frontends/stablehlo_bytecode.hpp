// SPDX-License-Identifier: Apache-2.0
// A writer of portable StableHLO files of version 6, for what tests need: one function, operations with attributes in their definition's
// order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace buda::test {

class StableHloBytecode {
 public:
  // Numbers of the format: seven bits a byte, and in the first byte as many zeros as bytes follow.
  static std::string number(std::uint64_t n) {
    if (n < 1 << 7) return std::string(1, static_cast<char>((n << 1) | 1));
    if (n < 1 << 14) return {static_cast<char>((n << 2) | 2), static_cast<char>(n >> 6)};
    std::string out(1, '\0');
    for (int i = 0; i < 8; ++i) out += static_cast<char>(n >> (8 * i));
    return out;
  }
  static std::string signed_number(std::int64_t n) {
    return number((static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63));
  }

  std::uint64_t string(const std::string& text) { return place_of(strings_, text); }
  // The bytes of an attribute or type behind its code.
  std::uint64_t attribute(std::uint64_t code, const std::string& fields) { return place_of(attributes_, number(code) + fields); }
  std::uint64_t type(std::uint64_t code, const std::string& fields = {}) { return place_of(types_, number(code) + fields); }

  std::uint64_t tensor_type(const std::vector<std::int64_t>& sizes, std::uint64_t element_code) {
    std::string fields = number(sizes.size());
    for (auto size : sizes) fields += signed_number(size);
    return type(20, fields + number(type(element_code)));
  }
  std::uint64_t text(const std::string& value) { return attribute(14, number(string(value))); }
  std::uint64_t integers(const std::vector<std::int64_t>& values) {
    std::string bytes(reinterpret_cast<const char*>(values.data()), 8 * values.size());
    const auto of = tensor_type({static_cast<std::int64_t>(values.size())}, 14);
    return attribute(15, number(of) + number(bytes.size()) + bytes);
  }
  std::uint64_t floats(const std::vector<std::int64_t>& sizes, const std::vector<float>& values) {
    std::string bytes(reinterpret_cast<const char*>(values.data()), 4 * values.size());
    return attribute(15, number(tensor_type(sizes, 4)) + number(bytes.size()) + bytes);
  }

  struct Operation {
    std::string name;
    std::vector<std::uint64_t> attributes, result_types, operands;
    std::string regions;
  };
  std::string operation(const Operation& op) {
    const int has = (op.attributes.empty() ? 0 : 64) | (op.result_types.empty() ? 0 : 2) | (op.operands.empty() ? 0 : 4) |
                    (op.regions.empty() ? 0 : 16);
    std::string out = number(place_of(operations_, op.name)) + static_cast<char>(has) + number(location());
    if (!op.attributes.empty()) {
      std::string fields;
      for (auto a : op.attributes) fields += number(a);
      out += number(place_of(properties_, fields));
    }
    if (!op.result_types.empty()) out += list(op.result_types);
    if (!op.operands.empty()) out += list(op.operands);
    return out + op.regions;
  }
  // A region of one block: arguments by their types, the number of values, and the operations.
  static std::string region(const std::vector<std::uint64_t>& arguments, std::uint64_t values, const std::vector<std::string>& operations) {
    std::string out = number(1) + number(values) + number(operations.size() << 1 | (arguments.empty() ? 0 : 1));
    if (!arguments.empty()) {
      out += number(arguments.size());
      for (auto type : arguments) out += number(type << 1);
      out += '\0';
    }
    for (const auto& op : operations) out += op;
    return out;
  }
  // What an operation has whose regions see no values of those around.
  static std::string isolated(const std::string& region) { return number(3) + section(4, region); }
  static std::string open(const std::string& region) { return number(2) + region; }

  // The file: a function `main` with this region.
  std::string file(const std::vector<std::uint64_t>& inputs, const std::vector<std::uint64_t>& results, const std::string& body) {
    const auto none = attribute(1, number(0)), of = attribute(17, number(type(8, list(inputs) + list(results))));
    const std::string function = operation({"func_v1", {none, of, none, text("main"), text("")}, {}, {}, isolated(body)});
    const std::string top = number(1 << 1) + function;
    std::string dialect = number(1) + number(string("vhlo") << 1) + number(operations_.size()) + number(0) + number(operations_.size());
    for (const auto& name : operations_) dialect += number(string(name) << 1 | 1);
    std::string properties = number(properties_.size());
    for (const auto& p : properties_) properties += number(p.size()) + p;
    std::string offsets = number(attributes_.size()) + number(types_.size()), values;
    for (const auto* table : {&attributes_, &types_}) {
      offsets += number(0) + number(table->size());
      for (const auto& value : *table) {
        offsets += number(value.size() << 1 | 1);
        values += value;
      }
    }
    std::string strings = number(strings_.size());
    for (auto it = strings_.rbegin(); it != strings_.rend(); ++it) strings += number(it->size() + 1);
    for (const auto& s : strings_) strings += s + '\0';
    return "ML\xEFR" + number(6) + "test" + '\0' + section(0, strings) + section(1, dialect) + section(2, values) + section(3, offsets) +
           section(4, top) + section(8, properties);
  }

 private:
  static std::string section(std::uint8_t id, const std::string& bytes) { return static_cast<char>(id) + number(bytes.size()) + bytes; }
  static std::string list(const std::vector<std::uint64_t>& numbers) {
    std::string out = number(numbers.size());
    for (auto n : numbers) out += number(n);
    return out;
  }
  static std::uint64_t place_of(std::vector<std::string>& table, const std::string& value) {
    for (std::size_t i = 0; i < table.size(); ++i)
      if (table[i] == value) return i;
    table.push_back(value);
    return table.size() - 1;
  }
  std::uint64_t location() { return attribute(14, number(string("here"))); }

  std::vector<std::string> strings_, attributes_, types_, operations_, properties_;
};

}  // namespace buda::test
