// HTTP by cpp-httplib.
#include <buda/serve/http/http_server.hpp>

#include <buda/base/text.hpp>

#include <httplib.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

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

// A name that another site lets point to this machine is not ours.
bool is_asked_by_own_name(const httplib::Request& request, bool local) {
  if (!local) return true;
  const std::string host = request.get_header_value("Host");
  const std::size_t port = host.rfind(':');
  const bool has_port = port != std::string::npos && host.find(']', port) == std::string::npos;
  return is_local(std::string_view(host).substr(0, has_port ? port : std::string::npos));
}

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
  // The library's own options let two servers share a port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // Every request ends here, so that no other method and nothing of the library's own is ever answered.
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    if (request.method != "GET") {
      response.set_header("Allow", "GET");
      give({.status = 405, .body = "only GET is answered\n"}, response);
    } else if (!is_asked_by_own_name(request, local)) {
      give({.status = 403, .body = "this server answers to the names of this machine only\n"}, response);
    } else {
      const std::scoped_lock lock(one_at_a_time);
      give(service.answer(request.path), response);
    }
    return httplib::Server::HandlerResponse::Handled;
  });
  const int port = service.port == 0 ? server.bind_to_any_port(service.address) : service.port;
  if (port <= 0 || (service.port != 0 && !server.bind_to_port(service.address, port))) {
    Diagnostic d = usage_error("HT001", cat("cannot serve at ", service.address, ':', service.port));
    d.fault = Fault::input;
    d.hint = "another program may use the port; --port 0 takes a free one";
    return d;
  }
  service.ready(port);
  server.listen_after_bind();
  return success();
}

}  // namespace buda::serve
