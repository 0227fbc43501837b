// SPDX-License-Identifier: Apache-2.0
// Tensors as members of an image: raw, tilized as a queue holds them, or in a common tensor format. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/image/image.hpp>
#include <buda/netlist/model/queue.hpp>

#include <string>

namespace buda::image {

// The bytes of a parameter and the entry that describes them. `queue` is the one that it is for; null where the netlist does not have it. A
// tensor that cannot be stored as asked (of integers, or of a queue that is not tilized) is stored raw. `stem`: the member's name without
// its ending. IM007: a type that images cannot hold.
struct StoredTensor {
  TensorEntry entry;
  io::Bytes bytes;
};
Result<StoredTensor> store_tensor(const std::string& name, const Tensor& tensor, const netlist::Queue* queue, TensorStore store,
                                  const std::string& stem);

// The way back. IM007: an entry that does not match its bytes, or its queue.
Result<Tensor> tensor_of_entry(const std::string& name, const TensorEntry& entry, const Members& members, const netlist::Queue* queue);

// Whether reading it needs the queue.
bool is_tilized(const TensorEntry& entry);

}  // namespace buda::image
