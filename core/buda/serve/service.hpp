// SPDX-License-Identifier: Apache-2.0
// What a tool answers to a browser, whatever serves it: the tool knows no protocol, and the server not what it serves.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/node.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace buda::serve {

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

struct Service {
  std::string address;
  int port = 0;  // 0: any that is free
  std::function<Answer(const std::string& path)> answer;
  std::function<void(int port)> ready;  // called once requests are accepted
};

// Serves until the process is interrupted. HT001: the address cannot be used.
using Serve = std::function<Result<void>(const Service&)>;

// The type of a file of a page, by the end of its name; otherwise that of plain text.
std::string content_type(std::string_view path);

// JSON in which "<" is written as an escape, so that no text in it can end a script or begin a comment.
std::string script_value(const io::Node& data);

}  // namespace buda::serve
