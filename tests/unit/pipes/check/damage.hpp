// SPDX-License-Identifier: Apache-2.0
// Pipes to be damaged, so that the checker can be seen to notice.
#pragma once

#include "unit/pipes/built.hpp"

#include <functional>

namespace buda::pipes {

class DamageTest : public ::testing::Test {
 protected:
  explicit DamageTest(const Built& whole) : whole_(whole), graph_(whole.graph) {}
  void SetUp() override {
    if (!whole_.ok()) GTEST_FAIL() << whole_.problem;
  }
  // The first for which this holds.
  Pipe& pipe(const std::function<bool(const Pipe&)>& wanted) {
    for (Pipe& p : graph_.pipes)
      if (wanted(p)) return p;
    ADD_FAILURE() << "no such pipe";
    return graph_.pipes.front();
  }
  Buffer& buffer(const std::function<bool(const Buffer&)>& wanted) {
    for (Buffer& b : graph_.buffers)
      if (wanted(b)) return b;
    ADD_FAILURE() << "no such buffer";
    return graph_.buffers.front();
  }
  Pipe& pipe_to(const std::string& op, std::int32_t operand) {
    BufferIndex index(graph_.buffers);
    return pipe([&](const Pipe& p) {
      const Buffer* b = index.find(p.outputs.front().front());
      return b != nullptr && b->op == op && b->operand == operand && b->type == BufferType::unpacker;
    });
  }
  Buffer& buffer(const std::string& op, BufferType type, std::int32_t operand = -1) {
    return buffer([&](const Buffer& b) { return b.op == op && b.type == type && (operand < 0 || b.operand == operand); });
  }
  void expect_caught() { EXPECT_NE(whole_.check(graph_), "") << "the damage was not seen"; }
  void expect_caught(const std::string& code) {
    std::string found = whole_.check(graph_);
    EXPECT_NE(found.find(code), std::string::npos) << "expected " << code << ", found: " << found;
  }

  const Built& whole_;
  PipeGraph graph_;
};

}  // namespace buda::pipes
