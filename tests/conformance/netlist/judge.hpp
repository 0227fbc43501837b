// Follows a device through a run: works out each op's output by itself, from queues and pointers of its own, and compares.
//
// Values are taken over from the device after they were compared, so that every op is judged by its own error and not by those before it.
// What goes wrong on the way (an entry read too early, a slot written twice, tiles of another place) shows at the next op.
#pragma once

#include "array.hpp"
#include "bounds.hpp"

#include <buda/netlist/netlist.hpp>
#include <buda/runtime/observer.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::judge {

class Judge final : public runtime::Observer {
 public:
  Judge(const netlist::Netlist& netlist, Precision precision);

  // What was pushed into, or written to, a queue, and what the device says it holds since then.
  void filled(const netlist::Queue& queue, const Tensor& given, const Tensor& held);
  // What came out of a queue at the end: the entries waiting, or all slots of a ram.
  void taken(const netlist::Queue& queue, const Tensor& tensor);

  bool wants(const netlist::Op&) const override { return true; }
  void made(const netlist::Graph& graph, const netlist::Op& op, std::int64_t input, const Tensor& value) override;
  void executes(const netlist::Graph& graph, const netlist::Execution& execution,
                const std::map<std::string, runtime::QueuePointers>& queues) override;
  void allocated(const netlist::Queue& queue) override;
  void moved(const netlist::Queue& queue, std::int64_t read) override;

  // One sentence per op or queue that disagrees, at most the first ten.
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::size_t compared() const { return compared_; }  // numbers
  std::size_t ops() const { return ops_; }

 private:
  struct Ring {
    const netlist::Queue* queue = nullptr;
    std::vector<std::optional<Array>> slots;
    std::int64_t read = 0, write = 0;
  };
  struct Reader {
    std::int64_t pointer = 0, step = 0;
    std::vector<Array> loaded;
  };
  struct Epoch {
    netlist::Execution execution;
    std::map<std::string, Reader> readers;
  };

  Array at(Ring& ring, std::int64_t pointer);
  void put(Ring& ring, std::int64_t pointer, const Array& value);
  Array source(const netlist::Graph& graph, const netlist::Op& op, std::size_t index, std::int64_t input);
  void store(const netlist::Graph& graph, const netlist::Op& op, std::int64_t input, const Array& value);
  void compare(const std::string& what, DataFormat format, const Array& expected, const Array& actual);
  void complain(const std::string& text);

  const netlist::Netlist& netlist_;
  Precision precision_;
  std::map<std::string, Ring> rings_;
  std::map<std::string, std::vector<const netlist::Queue*>> fed_by_;
  std::map<std::string, Epoch> epochs_;                           // by graph
  std::map<std::pair<std::string, std::int64_t>, Array> values_;  // by op and input: of the last execution
  std::map<std::string, Array> sums_;                             // by gradient op
  std::vector<std::string> complaints_;
  std::size_t compared_ = 0, ops_ = 0;
};

}  // namespace buda::judge
