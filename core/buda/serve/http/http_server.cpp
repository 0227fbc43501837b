// SPDX-License-Identifier: Apache-2.0
// HTTP by cpp-httplib.
#include <buda/serve/http/http_server.hpp>

#include <buda/base/text.hpp>

#include <httplib.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace buda::serve {
namespace {

// Other sites may not include the data, which are scripts, nor may the page be shown inside of theirs.
const httplib::Headers& headers() {
  static const httplib::Headers all = {
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"}};
  return all;
}

constexpr std::array<std::string_view, 3> kLocal = {"127.0.0.1", "localhost", "[::1]"};

bool is_local(std::string_view name) { return std::find(kLocal.begin(), kLocal.end(), name) != kLocal.end() || name == "::1"; }

// A name that another site lets point to this machine is not ours, and only one can be meant.
bool is_asked_by_own_name(const httplib::Request& request, bool local, int port) {
  if (!local) return true;
  if (request.get_header_value_count("Host") != 1) return false;
  const std::string host = request.get_header_value("Host");
  return std::any_of(kLocal.begin(), kLocal.end(), [&](std::string_view name) { return host == name || host == cat(name, ':', port); });
}

// A thread for each connection that is open at a time: who sends nothing, or little by little, keeps nobody else waiting.
class ThreadPerConnection final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> connection) override {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(connection));
    if (free_ < waiting_.size() && threads_.size() < kMaxThreads) begin_thread();
    changed_.notify_one();
  }
  void shutdown() override {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static constexpr std::size_t kMaxThreads = 1024;

  void begin_thread() {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more of them: those that there are do it one after the other.
      if (threads_.empty()) throw;
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++free_;
      changed_.wait(lock, [&] { return !waiting_.empty() || ends_; });
      --free_;
      if (waiting_.empty()) return;
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t free_ = 0;
  bool ends_ = false;
};

void give(const Answer& answer, httplib::Response& response) {
  response.status = answer.status;
  response.set_content(answer.body, answer.type);
}

}  // namespace

Result<void> serve_http(const Service& service) {
  httplib::Server server;
  std::mutex one_at_a_time;  // answers read files through one file system
  const bool local = is_local(service.address);
  server.set_default_headers(headers());
  server.set_payload_max_length(1024);
  server.new_task_queue = [] { return new ThreadPerConnection; };
  // The library's own options let two servers share a port.
  socket_t listening = INVALID_SOCKET;
  server.set_socket_options([&](socket_t socket) {
    const int yes = 1;
    listening = socket;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  int port = 0;
  // Every request ends here, so that no other method and nothing of the library's own is ever answered.
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    if (request.method != "GET") {
      response.set_header("Allow", "GET");
      give({.status = 405, .body = "only GET is answered\n"}, response);
    } else if (!is_asked_by_own_name(request, local, port)) {
      give({.status = 403, .body = "this server answers to the names of this machine only\n"}, response);
    } else {
      const std::scoped_lock lock(one_at_a_time);
      give(service.answer(request.path), response);
    }
    return httplib::Server::HandlerResponse::Handled;
  });
  port = service.port == 0 ? server.bind_to_any_port(service.address) : service.port;
  if (port <= 0 || (service.port != 0 && !server.bind_to_port(service.address, port))) {
    Diagnostic d = usage_error("HT001", cat("cannot serve at ", service.address, ':', service.port));
    d.fault = Fault::input;
    d.hint = "another program may use the port; --port 0 takes a free one";
    return d;
  }
  // The library lets five wait, and the system drops the others for a second.
  constexpr int kWaiting = 512;
  ::listen(listening, kWaiting);
  service.ready(port);
  server.listen_after_bind();
  return success();
}

}  // namespace buda::serve
