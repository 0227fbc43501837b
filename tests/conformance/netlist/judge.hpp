// SPDX-License-Identifier: Apache-2.0
// Follows a device through a run: works out each op's output by itself, from queues and pointers of its own, and compares.
//
// Values are taken over from the device after they were compared, so that every op is judged by its own error and not by those before it.
// What goes wrong on the way (an entry read too early, a slot written twice, tiles of another place) shows at the next op.
//
// Values are kept as the device's tensors, and no longer than something may read them; they become doubles one op at a time.
#pragma once

#include "array.hpp"
#include "bounds.hpp"

#include <buda/netlist/model/netlist.hpp>
#include <buda/runtime/observer.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace buda::judge {

class Judge final : public runtime::Observer {
 public:
  // `work`: how many multiplications of an op's product are made at most, at least those of one row; less when the same op comes often.
  Judge(const netlist::Netlist& netlist, Precision precision, double work = 1e8);

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
  // Entry `w` of a tensor.
  struct Held {
    Tensor tensor;
    std::int64_t w = 0;
  };
  struct Ring {
    const netlist::Queue* queue = nullptr;
    std::vector<std::optional<Held>> slots;
    std::int64_t read = 0, write = 0;
  };
  struct Reader {
    std::int64_t pointer = 0, step = 0;
    std::vector<Held> loaded;
  };
  struct Epoch {
    netlist::Execution execution;
    std::map<std::string, Reader> readers;
  };

  // Who reads an op's output without a queue in between.
  struct Direct {
    std::size_t uses = 0;          // by ops, for each input
    std::set<std::string> graphs;  // others, which may read it in a later execution, unless they run together with its own
  };
  struct Output {
    Tensor value;
    std::size_t uses = 0;  // still to come
  };

  Held at(const Ring& ring, std::int64_t pointer) const;
  void put(Ring& ring, std::int64_t pointer, const Held& value);
  View source(const netlist::Graph& graph, const netlist::Op& op, std::size_t index, std::int64_t input);
  Tensor from_op(const netlist::Graph& graph, const std::string& name, std::int64_t input);
  void store(const netlist::Graph& graph, const netlist::Op& op, std::int64_t input, const Tensor& value);
  // Whether the numbers of `actual` from matrix `first_t` on are as expected.
  void compare(const std::string& what, DataFormat format, const Array& expected, const Held& actual, std::size_t first_t = 0);
  // Evaluates an op for one input, for the `times`-th time, and compares.
  void judge(const netlist::Graph& graph, const netlist::Op& op, std::int64_t input, std::size_t times, const Tensor& value);
  void complain(const std::string& text);

  const netlist::Netlist& netlist_;
  Precision precision_;
  double work_;
  std::map<std::string, Ring> rings_;
  std::map<std::string, std::vector<const netlist::Queue*>> fed_by_;
  std::set<std::string> read_;                                     // queues that ops read
  std::map<std::string, Direct> direct_;                           // by op
  std::map<std::string, TileDim> tile_of_;                         // by op
  std::map<std::string, const netlist::FusedOp*> fused_;           // by id
  std::map<std::string, Epoch> epochs_;                            // by graph
  std::map<std::pair<std::string, std::int64_t>, Output> values_;  // by op and input: of the last execution
  std::map<std::string, Tensor> sums_;                             // by gradient op
  std::set<std::string> running_;                                  // graphs
  bool told_ = false;                                              // of a graph that runs, since the last op
  std::map<std::string, std::size_t> judged_;                      // by op: how often
  std::vector<std::string> complaints_;
  std::size_t compared_ = 0, ops_ = 0;
};

}  // namespace buda::judge
