// SPDX-License-Identifier: Apache-2.0
// Child processes that judge, and what they tell through pipes.
#include "workers.hpp"

#include <buda/base/text.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <string>

namespace buda::trial {
namespace {

struct Worker {
  pid_t process = 0;
  int pipe = -1;
  std::uint64_t next = 0;  // the seed after those that it has told of
  std::string text;        // what it has told of the seed at hand
};

void tell(int pipe, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(pipe, text.data() + at, text.size() - at);
    if (n <= 0) _exit(1);
    at += static_cast<std::size_t>(n);
  }
}

// The library throws only where memory is exhausted; anything else that comes out of it is a fault of this seed.
Verdict caught(std::uint64_t seed, const std::function<Verdict(std::uint64_t)>& judge) {
  try {
    return judge(seed);
  } catch (const std::exception& e) {
    return {seed, {{"|||||throws", e.what()}}, {}};
  }
}

// Judges next, next + step, … and tells "end" after each.
Worker started(std::uint64_t next, std::uint64_t last, unsigned step, unsigned seconds,
               const std::function<Verdict(std::uint64_t)>& judge) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    for (std::uint64_t seed = next; seed < last; seed += step) {
      alarm(seconds);
      tell(ends[1], lines_of(caught(seed, judge)) + "end\n");
    }
    _exit(0);
  }
  close(ends[1]);
  return {process, ends[0], next, {}};
}

// Takes the whole lines of a seed; nothing while it is not complete.
std::optional<Verdict> taken(Worker& worker, std::uint64_t step) {
  const std::size_t end = worker.text.starts_with("end\n") ? 0 : worker.text.find("\nend\n");
  if (end == std::string::npos) return std::nullopt;
  const std::size_t length = end == 0 ? 0 : end + 1;
  Verdict out;
  out.seed = worker.next;
  for (std::size_t at = 0; at < length;) {
    const std::size_t stop = worker.text.find('\n', at);
    read_line(worker.text.substr(at, stop - at), out);
    at = stop + 1;
  }
  worker.text.erase(0, length + 4);
  worker.next += step;
  return out;
}

}  // namespace

std::vector<Verdict> judged(std::uint64_t first, std::uint64_t last, unsigned jobs, unsigned seconds,
                            const std::function<Verdict(std::uint64_t)>& judge, const std::function<void(const Verdict&)>& done) {
  std::vector<Verdict> out;
  std::vector<Worker> workers;
  auto keep = [&](Verdict v) {
    done(v);
    out.push_back(std::move(v));
  };
  for (unsigned i = 0; i < jobs && first + i < last; ++i) workers.push_back(started(first + i, last, jobs, seconds, judge));
  while (!workers.empty()) {
    std::vector<pollfd> polled;
    for (const Worker& w : workers) polled.push_back({w.pipe, POLLIN, 0});
    if (poll(polled.data(), polled.size(), -1) < 0) break;
    for (std::size_t i = workers.size(); i-- > 0;) {
      if (polled[i].revents == 0) continue;
      Worker& w = workers[i];
      char buffer[1 << 16];
      const ssize_t n = read(w.pipe, buffer, sizeof buffer);
      if (n > 0) {
        w.text.append(buffer, static_cast<std::size_t>(n));
        while (auto v = taken(w, jobs)) keep(std::move(*v));
        continue;
      }
      int status = 0;
      waitpid(w.process, &status, 0);
      close(w.pipe);
      const std::uint64_t seed = w.next;
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
      if (seed >= last) continue;
      const std::string how = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "too slow" : "crash";
      keep({seed, {{cat("|||||", how), cat("the process ended with status ", status)}}, {}});
      if (seed + jobs < last) workers.push_back(started(seed + jobs, last, jobs, seconds, judge));
    }
  }
  std::sort(out.begin(), out.end(), [](const Verdict& a, const Verdict& b) { return a.seed < b.seed; });
  return out;
}

}  // namespace buda::trial
