// Answers of the report's server, and what serves them.
#pragma once

#include <buda/diag/result.hpp>

#include <functional>
#include <string>

namespace buda::reportify {

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

// Serves until the process is interrupted. RY004: the address cannot be used.
using Serve = std::function<Result<void>(const Service&)>;
Result<void> serve_http(const Service& service);

}  // namespace buda::reportify
