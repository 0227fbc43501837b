// SPDX-License-Identifier: Apache-2.0
// Types and attributes of the versioned dialect (VHLO) that portable files are written in, as numbers in a file's tables.
#pragma once

#include "bytecode.hpp"
#include "module.hpp"

namespace buda::stablehlo {

class BytecodeValues {
 public:
  BytecodeValues(const BytecodeTables& tables, const Module& module) : tables_(&tables), module_(&module) {}

  // By their number. What has no meaning here is an attribute without a value, or a type of kind `other`.
  Result<Attribute> attribute(std::uint64_t number);
  Result<Type> type(std::uint64_t number);
  // The attributes of an operation: those that it has by its definition, in a list without names, and others.
  Result<void> add_properties(Operation& op, std::string_view versioned_name, std::uint64_t number);
  Result<void> add_dictionary(Operation& op, std::uint64_t number);

  Diagnostic damaged(std::string_view what) const;

 private:
  Result<Attribute> vhlo_attribute(ByteReader reader);
  Result<Attribute> builtin_attribute(ByteReader reader);
  Result<Attribute> dictionary(ByteReader& reader);
  Result<Attribute> integer(ByteReader& reader);
  Result<Attribute> real(ByteReader& reader);
  Result<Attribute> tensor(ByteReader& reader);
  Result<Type> vhlo_type(ByteReader reader);
  Result<std::string> quantized_type(ByteReader& reader, bool per_axis);
  Result<std::vector<Type>> type_list(ByteReader& reader);
  Result<Attribute> string(ByteReader& reader);

  const BytecodeTables* tables_;
  const Module* module_;
  int depth_ = 0;
};

}  // namespace buda::stablehlo
