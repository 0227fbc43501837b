// Reading of tags.
#include <buda/graph/training.hpp>

#include <buda/graph/node.hpp>

namespace buda::graph {

std::string training_of(const Node& border) {
  auto tag = border.tags.find(kTraining);
  return tag == border.tags.end() ? "" : tag->second;
}

}  // namespace buda::graph
