// SPDX-License-Identifier: Apache-2.0
// The tables of a file, and its operations.
//
// Values have no names: the arguments of a region's block and the results of its operations are numbered in their order. A region sees the
// values of the one around it, whose numbers come first, unless its operation is isolated.
#include "bytecode_reader.hpp"

#include "bytecode.hpp"
#include "bytecode_values.hpp"

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::stablehlo {
namespace {

// What came with each version of the format.
constexpr std::uint64_t kDialectVersions = 1, kSectionsOfRegions = 2, kUseLists = 3, kOptionalLocations = 4, kProperties = 5, kNewest = 6;

// ---- tables

struct Sections {
  std::string_view strings, dialects, values, offsets, operations, properties;
};

Sections sections_of(ByteReader& file) {
  Sections out;
  while (!file.at_end()) {
    const Section section = Section::read(file);
    std::string_view* places[] = {&out.strings, &out.dialects, &out.values, &out.offsets,   &out.operations,
                                  nullptr,      nullptr,       nullptr,     &out.properties};
    if (section.number < std::size(places) && places[section.number] != nullptr) *places[section.number] = section.bytes;
  }
  return out;
}

// Sizes stand from the last string to the first, each with the zero at its end; the strings themselves are in order.
bool read_strings(std::string_view bytes, BytecodeTables& out) {
  ByteReader reader(bytes);
  std::vector<std::uint64_t> sizes(reader.count());
  for (auto& size : sizes) size = reader.number();
  if (reader.failed()) return false;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::string_view text = reader.take(sizes[i]);
    if (reader.failed() || text.empty()) return false;
    out.strings.push_back(text.substr(0, text.size() - 1));
  }
  return true;
}

bool read_dialects(std::string_view bytes, BytecodeTables& out) {
  ByteReader reader(bytes);
  auto string = [&](std::uint64_t number) {
    if (number >= out.strings.size()) reader.fail();
    return reader.failed() ? std::string_view() : out.strings[static_cast<std::size_t>(number)];
  };
  for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
    const std::uint64_t name = reader.number();
    out.dialects.push_back(string(out.version < kDialectVersions ? name : name >> 1));
    if (out.version >= kDialectVersions && (name & 1) != 0) Section::read(reader);
  }
  if (out.version >= kOptionalLocations) reader.number();  // how many operations there are
  while (!reader.at_end()) {
    const std::uint64_t dialect = reader.number();
    if (dialect >= out.dialects.size()) return false;
    for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
      const std::uint64_t name = reader.number();
      out.operations.emplace_back(out.dialects[static_cast<std::size_t>(dialect)], string(out.version < kProperties ? name : name >> 1));
    }
  }
  return !reader.failed();
}

// Attributes, then types, in groups by dialect: how many bytes each has, and whether they are numbers.
bool read_values(const Sections& sections, BytecodeTables& out) {
  ByteReader reader(sections.offsets), values(sections.values);
  const std::size_t attributes = reader.count(), types = reader.count();
  for (auto [table, count] : {std::pair(&out.attributes, attributes), std::pair(&out.types, types)})
    while (table->size() < count) {
      const std::uint64_t dialect = reader.number();
      if (reader.failed() || dialect >= out.dialects.size()) return false;
      for (std::size_t i = 0, more = reader.count(); i < more; ++i) {
        const std::uint64_t head = reader.number();
        table->push_back({out.dialects[static_cast<std::size_t>(dialect)], values.take(head >> 1), (head & 1) != 0});
      }
    }
  return !reader.failed() && !values.failed();
}

bool read_properties(std::string_view bytes, BytecodeTables& out) {
  ByteReader reader(bytes);
  if (bytes.empty()) return true;
  for (std::size_t i = 0, count = reader.count(); i < count; ++i) out.properties.push_back(reader.take(reader.number()));
  return !reader.failed();
}

// ---- operations

class OperationReader {
 public:
  OperationReader(Module& module, const BytecodeTables& tables) : module_(&module), tables_(&tables), values_(tables, module) {}

  Result<void> read() {
    ByteReader reader(tables_->operations_section);
    Region top;
    Scope scope;
    BUDA_TRY(block(reader, top, scope));
    module_->operations = std::move(top.operations);
    return success();
  }

 private:
  // The values that a region sees, by number, and how many of them are defined.
  struct Scope {
    std::vector<ValueId> ids;
    std::size_t next = 0;
  };

  Diagnostic damaged(std::string_view what) const { return values_.damaged(what); }

  Result<void> define(Scope& scope, std::vector<ValueId>& out) {
    if (scope.next >= scope.ids.size()) return damaged("a region has more values than it says");
    out.push_back(scope.ids[scope.next++]);
    return success();
  }

  // The order of uses of a value, which says nothing here.
  static void skip_uses(ByteReader& reader, std::size_t values) {
    const std::uint64_t lists = values > 1 ? reader.number() : 1;
    for (std::uint64_t i = 0; i < lists && !reader.failed(); ++i) {
      if (values > 1) reader.number();
      const std::uint64_t count = reader.number() >> 1;
      for (std::uint64_t k = 0; k < count && !reader.failed(); ++k) reader.number();
    }
  }

  Result<void> block(ByteReader& reader, Region& out, Scope& scope) {
    const std::uint64_t head = reader.number();
    if ((head & 1) != 0) {
      const std::size_t count = reader.count();
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t type = reader.number();
        const bool located = tables_->version < kOptionalLocations || (type & 1) != 0;
        if (tables_->version >= kOptionalLocations) type >>= 1;
        if (located) reader.number();
        BUDA_ASSIGN(Type of, values_.type(type));
        out.argument_types.push_back(std::move(of));
        out.argument_names.emplace_back();
        BUDA_TRY(define(scope, out.arguments));
      }
      if (tables_->version >= kUseLists && reader.byte() != 0) skip_uses(reader, count);
    }
    for (std::uint64_t i = 0; i < head >> 1; ++i) {
      BUDA_ASSIGN(Operation op, operation(reader, scope));
      out.operations.push_back(std::move(op));
    }
    return reader.failed() ? Result<void>(damaged("its operations end too early")) : success();
  }

  Result<Region> region(ByteReader& reader, const Scope& outer) {
    constexpr std::size_t kMaxValues = 1 << 24;
    Region out;
    const std::uint64_t blocks = reader.number();
    if (blocks == 0) return out;
    if (blocks > 1) return module_->error("SH003", "has branches between blocks, which are not supported");
    const std::uint64_t count = reader.number();
    if (count > reader.left() || module_->value_count + count > kMaxValues)
      return damaged("a region has more values than the file has bytes");
    Scope scope{outer.ids, outer.ids.size()};
    for (std::uint64_t i = 0; i < count; ++i) scope.ids.push_back(module_->value_count++);
    BUDA_TRY(block(reader, out, scope));
    return out;
  }

  Result<Operation> operation(ByteReader& reader, Scope& scope) {
    constexpr std::uint8_t kHasAttributes = 1, kHasResults = 2, kHasOperands = 4, kHasSuccessors = 8, kHasRegions = 16, kHasUses = 32,
                           kHasProperties = 64;
    constexpr int kDeepest = 64;
    Operation op;
    const std::uint64_t name = reader.number();
    if (reader.failed() || name >= tables_->operations.size() || depth_ > kDeepest) return damaged("it has no such operation");
    const auto& [dialect, versioned] = tables_->operations[static_cast<std::size_t>(name)];
    op.name = plain_name(dialect, versioned);
    const std::uint8_t has = reader.byte();
    reader.number();  // its location
    if ((has & kHasAttributes) != 0) BUDA_TRY(values_.add_dictionary(op, reader.number()));
    if ((has & kHasProperties) != 0) {
      const std::uint64_t properties = reader.number();
      if (dialect == "vhlo") BUDA_TRY(values_.add_properties(op, versioned, properties));
    }
    if ((has & kHasResults) != 0)
      for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
        BUDA_ASSIGN(Type type, values_.type(reader.number()));
        op.result_types.push_back(std::move(type));
        BUDA_TRY(define(scope, op.results));
      }
    if (!op.results.empty()) op.label = cat(op.results[0]);
    if ((has & kHasOperands) != 0)
      for (std::size_t i = 0, count = reader.count(); i < count; ++i) {
        const std::uint64_t operand = reader.number();
        if (operand >= scope.ids.size()) return damaged("an operation uses a value that there is not");
        op.operands.push_back(scope.ids[static_cast<std::size_t>(operand)]);
      }
    if ((has & kHasSuccessors) != 0) return module_->error("SH003", "has branches between blocks, which are not supported");
    if ((has & kHasUses) != 0) skip_uses(reader, op.results.size());
    if (reader.failed()) return damaged("an operation ends too early");
    if ((has & kHasRegions) != 0) BUDA_TRY(regions(reader, scope, op));
    group_attributes(op);
    return op;
  }

  Result<void> regions(ByteReader& reader, const Scope& scope, Operation& op) {
    const std::uint64_t head = reader.number();
    const bool isolated = (head & 1) != 0;
    ByteReader inside = reader;
    const bool apart = isolated && tables_->version >= kSectionsOfRegions;
    if (apart) inside = ByteReader(Section::read(reader).bytes);
    if (head >> 1 > inside.left()) return damaged("an operation has more regions than the file has bytes");
    ++depth_;
    for (std::uint64_t i = 0; i < head >> 1; ++i) {
      BUDA_ASSIGN(Region made, region(inside, isolated ? Scope{} : scope));
      op.regions.push_back(std::move(made));
    }
    --depth_;
    if (!apart) reader = inside;
    return success();
  }

  // "vhlo" and "add_v1": stablehlo.add.
  static std::string plain_name(std::string_view dialect, std::string_view versioned) {
    if (dialect != "vhlo") return cat(dialect, '.', versioned);
    const std::string_view name = versioned.substr(0, versioned.rfind("_v"));
    if (name == "func" || name == "return" || name == "call") return cat("func.", name);
    return cat("stablehlo.", name);
  }

  // Dimension numbers, which VHLO has as attributes of the operation.
  static void group_attributes(Operation& op) {
    static constexpr std::pair<std::string_view, std::string_view> kGroups[] = {{"stablehlo.gather", "dimension_numbers"},
                                                                                {"stablehlo.dynamic_gather", "dimension_numbers"},
                                                                                {"stablehlo.convolution", "dimension_numbers"},
                                                                                {"stablehlo.scatter", "scatter_dimension_numbers"},
                                                                                {"stablehlo.dot_general", "dot_dimension_numbers"}};
    for (const auto& [name, group] : kGroups)
      if (op.name == name) op.attributes.set(std::string(group), Attribute{Attributes(op.attributes)});
  }

  Module* module_;
  const BytecodeTables* tables_;
  BytecodeValues values_;
  int depth_ = 0;
};

}  // namespace

Result<Module> read_bytecode(const std::string& path, const io::Bytes& content) {
  Module module;
  module.path = path;
  module.file = path.substr(path.rfind('/') + 1);
  ByteReader file(content.view().substr(kBytecodeMagic.size()));
  BytecodeTables tables;
  tables.file = content;
  tables.version = file.number();
  file.until_zero();  // who wrote it
  if (tables.version > kNewest)
    return module.error("SH001", cat("is bytecode of version ", tables.version, "; up to ", kNewest, " are supported"));
  const Sections sections = sections_of(file);
  if (file.failed() || !read_strings(sections.strings, tables) || !read_dialects(sections.dialects, tables) ||
      !read_values(sections, tables) || !read_properties(sections.properties, tables))
    return module.error("SH001", "is damaged: its tables are not complete");
  tables.operations_section = sections.operations;
  BUDA_TRY(OperationReader(module, tables).read());
  return module;
}

}  // namespace buda::stablehlo
