// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `conv`: convolutions and transposed convolutions as products with constant sparse matrices and with weights.
#include "rules.hpp"

#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

BUDA_PLUGIN(.name = "conv", .version = "1.0", .description = "convolutions as sparse and dense products", .license = "Apache-2.0") {
  registrar.add_decomposition(
      {.name = "conv",
       .summary = "convolutions by row selection and a product with the weights",
       .options = {{.name = "prestride",
                    .type = buda::schema::OptionType::flag,
                    .summary = "let the host rearrange model inputs of strided convolutions: the positions within a stride become channels",
                    .default_text = "true"}},
       .make = [](const buda::schema::OptionValues& values, buda::Host&) -> buda::Result<std::unique_ptr<buda::passes::Decomposition>> {
         return buda::conv::make_convolution(values.flag("prestride", true));
       }});
  registrar.add_decomposition(
      {.name = "conv_transpose",
       .summary = "transposed convolutions by a product with the weights and row selection",
       .options = {},
       .make = [](const buda::schema::OptionValues&, buda::Host&) -> buda::Result<std::unique_ptr<buda::passes::Decomposition>> {
         return buda::conv::make_transposed_convolution();
       }});
}
