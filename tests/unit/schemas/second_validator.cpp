// SPDX-License-Identifier: Apache-2.0
// valijson on nlohmann's JSON.
#include "unit/schemas/second_validator.hpp"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace buda {

bool second_validator_accepts(const std::string& schema, const std::string& document) {
  const auto schema_json = nlohmann::json::parse(schema), document_json = nlohmann::json::parse(document);
  const valijson::adapters::NlohmannJsonAdapter schema_adapter(schema_json), adapter(document_json);
  valijson::Schema read;
  valijson::SchemaParser().populateSchema(schema_adapter, read);
  return valijson::Validator().validate(read, adapter, nullptr);
}

}  // namespace buda
