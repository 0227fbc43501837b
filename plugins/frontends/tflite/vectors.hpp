// SPDX-License-Identifier: Apache-2.0
// Lists of numbers in the file.
#pragma once

#include <schema_generated.h>

#include <cstring>
#include <vector>

namespace buda::tflite_frontend {

// The verifier sees to the alignment of a vector's length, not to that of its elements.
template <class T>
std::vector<T> list(const flatbuffers::Vector<T>* v) {
  if (v == nullptr || v->size() == 0) return {};
  std::vector<T> out(v->size());
  std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
  for (T& element : out) element = flatbuffers::EndianScalar(element);
  return out;
}

}  // namespace buda::tflite_frontend
