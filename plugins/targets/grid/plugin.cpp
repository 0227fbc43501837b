// SPDX-License-Identifier: Apache-2.0
// Target `grid`: executes the stream programs of a model tile by tile, in time, and says what limits each epoch.
#include <buda/base/text.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/target.hpp>
#include <buda/timed/device.hpp>

#include <algorithm>

namespace {

using namespace buda;

class GridTarget final : public runtime::Target {
 public:
  explicit GridTarget(timed::DeviceOptions options) : options_(std::move(options)) {}

  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor& descriptor,
                                                Host& host) override {
    return timed::make_device(program, descriptor, options_, host);
  }
  runtime::Needs needs() const override { return {.streams = true}; }

 private:
  timed::DeviceOptions options_;
};

Result<std::map<std::string, double>> scales_of(const std::vector<std::string>& texts) {
  std::map<std::string, double> out;
  for (const std::string& text : texts) {
    const std::size_t equal = text.rfind('=');
    const auto factor = equal == std::string::npos ? std::nullopt : parse_double(text.substr(equal + 1));
    if (!factor || equal == 0 || !(*factor > 0))
      return usage_error("SM006", cat("option scale: '", text, "' is not OP=FACTOR, as add_3=0.95"));
    out[text.substr(0, equal)] = *factor;
  }
  return out;
}

schema::OptionSpec values_option() {
  schema::OptionSpec spec;
  spec.name = "values";
  spec.type = schema::OptionType::choice;
  spec.summary =
      "tags: every tile carries its origin, which is checked wherever it arrives; exact: so do outputs, computed from the tiles that have "
      "arrived; off: tiles are counted only";
  spec.value_name = "MODE";
  spec.default_text = "tags";
  spec.choices = {"tags", "exact", "off"};
  return spec;
}

schema::OptionSpec scale_option() {
  schema::OptionSpec spec;
  spec.name = "scale";
  spec.type = schema::OptionType::text;
  spec.summary = "multiply the time of an op's kernel, to see what that changes";
  spec.value_name = "OP=FACTOR";
  spec.repeatable = true;
  return spec;
}

schema::OptionSpec jitter_option() {
  schema::OptionSpec spec;
  spec.name = "jitter";
  spec.type = schema::OptionType::integer;
  spec.summary = "multiply each duration by a random number from 0.7 to 1.3; 0: by 1. Values must not depend on it";
  spec.value_name = "SEED";
  spec.default_text = "0";
  spec.least = 0;
  return spec;
}

schema::OptionSpec number_option(const std::string& name, const std::string& value, const std::string& standard,
                                 const std::string& summary) {
  schema::OptionSpec spec;
  spec.name = name;
  spec.type = schema::OptionType::real;
  spec.summary = summary;
  spec.value_name = value;
  spec.default_text = standard;
  spec.least = 0;
  return spec;
}

schema::OptionSpec transfers_option(const std::string& name, const std::string& where) {
  schema::OptionSpec spec =
      number_option(name, "FACTOR", "1", cat("multiply the time that transfers take ", where, ": what others would give"));
  spec.least = 0.01;
  spec.most = 100;
  return spec;
}

schema::OptionSpec chunk_option() {
  schema::OptionSpec spec = number_option("chunk-tiles", "N", "8", "tiles that are sent together at most; fewer take longer to simulate");
  spec.type = schema::OptionType::integer;
  spec.least = 1;
  return spec;
}

}  // namespace

BUDA_PLUGIN(.name = "grid", .version = "1.0", .description = "executes stream programs tile by tile, in simulated time",
            .license = "Apache-2.0") {
  registrar.add_target(
      {.name = "grid",
       .summary = "executes stream programs tile by tile and in time; says what limits a model; computes values if asked to",
       .options = {values_option(), scale_option(), jitter_option(),
                   number_option("host-gbs", "GB/S", "0",
                                 "rate at which the host pushes entries while the device runs, and pops what no op reads; 0: "
                                 "entries are there at once, and stay"),
                   transfers_option("noc-scale", "on the networks"), transfers_option("dram-scale", "in DRAM"), chunk_option(),
                   number_option("switch-cycles", "N", "",
                                 "time of a core between two epochs in addition to that of the bytes that it loads; default: the "
                                 "device's; 0: cores change epochs in no time")},
       .make = [](const schema::OptionValues& values, Host&) -> Result<std::unique_ptr<runtime::Target>> {
         timed::DeviceOptions options;
         options.check_tiles = values.text("values") != "off";
         options.chunk_tiles = std::max<std::int64_t>(values.integer("chunk-tiles"), 1);
         if (values.text("values") == "exact") options.computes.emplace();
         options.jitter = static_cast<std::uint64_t>(values.integer("jitter"));
         options.transfers = {values.real("noc-scale"), values.real("dram-scale")};
         options.host_gbs = values.real("host-gbs");
         if (options.computes && options.host_gbs > 0)
           return usage_error("SM006", "option values: exact needs a host whose transfers take no time (host-gbs=0)");
         options.switch_cycles.reset();
         if (values.has("switch-cycles")) options.switch_cycles = values.real("switch-cycles");
         BUDA_ASSIGN(options.scale, scales_of(values.texts("scale")));
         return std::unique_ptr<runtime::Target>(new GridTarget(std::move(options)));
       }});
}
