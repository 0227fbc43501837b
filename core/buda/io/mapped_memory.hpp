// SPDX-License-Identifier: Apache-2.0
// Files as memory.
#pragma once

#include <buda/io/bytes.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace buda::io {

// The first `size` bytes of an open file, read when they are touched; nothing where the system cannot do that.
std::optional<Bytes> map_file(int descriptor, std::size_t size);

// A hint: nobody will read these bytes soon. Where they are a part of a mapped file, their memory goes back to the system; they stay valid,
// and come back from the file. Other bytes are left alone.
void release_mapped(std::string_view bytes);

// All bytes in their order, in parts that are valid until `use` returns. Those of a mapped file are copied from it into a buffer: that
// costs less than the page faults of a first touch (in virtual machines a fifth), and pages that nothing else needs do not become resident.
void read_by_parts(std::string_view bytes, const std::function<void(std::string_view)>& use);

}  // namespace buda::io
