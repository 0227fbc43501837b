// SPDX-License-Identifier: Apache-2.0
// The fields of an entry's file.
#include <buda/cache/entry.hpp>

namespace buda::cache {

const schema::Record<Making>& describe(const Making*) {
  static const auto record = schema::Record<Making>("products, and what they were made from")
                                 .required("inputs", &Making::inputs, "SHA-256 of each file that was read, by absolute path")
                                 .required("products", &Making::products, "SHA-256 of each product, by name");
  return record;
}

const schema::Record<Entry>& describe(const Entry*) {
  static const auto record = schema::Record<Entry>("what is known of one piece of work", {"buda.cache", 1})
                                 .required("makings", &Entry::makings, "the latest first");
  return record;
}

}  // namespace buda::cache
