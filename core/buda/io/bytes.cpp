// SPDX-License-Identifier: Apache-2.0
// Bytes that own a string.
#include <buda/io/bytes.hpp>

#include <utility>

namespace buda::io {

Bytes::Bytes(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  view_ = *owner;
  owner_ = std::move(owner);
}

}  // namespace buda::io
