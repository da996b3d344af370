#include "dolium/bytes/testing/http_test_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace dolium {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

bool SendAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t sent = send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Reads up to the empty line; GET and HEAD have no body. nullopt at the end of the
// connection.
std::optional<std::string> ReadHead(int fd, std::string& buffered) {
  while (buffered.find("\r\n\r\n") == std::string::npos) {
    char data[4096];
    const ssize_t got = recv(fd, data, sizeof data, 0);
    if (got <= 0) return std::nullopt;
    buffered.append(data, static_cast<size_t>(got));
  }
  const size_t end = buffered.find("\r\n\r\n") + 4;
  std::string head = buffered.substr(0, end);
  buffered.erase(0, end);
  return head;
}

ServedRequest ParseRequest(std::string_view head, size_t connection) {
  ServedRequest request;
  request.connection = connection;
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const size_t space = line.find(' ');
  request.method = line.substr(0, space);
  request.target = line.substr(space + 1, line.rfind(' ') - space - 1);
  head.remove_prefix(line.size() + 2);
  while (!head.starts_with("\r\n")) {
    const std::string_view field = head.substr(0, head.find("\r\n"));
    const size_t colon = field.find(": ");
    std::string name(field.substr(0, colon));
    for (char& c : name)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    request.headers[name] = field.substr(colon + 2);
    head.remove_prefix(field.size() + 2);
  }
  return request;
}

}  // namespace

struct HttpTestServer::Answer {
  std::string head;
  std::string body;
};

HttpTestServer::HttpTestServer() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Require(listener_ >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  Require(bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0);
  Require(listen(listener_, 128) == 0);
  Require(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

HttpTestServer::~HttpTestServer() {
  std::vector<std::thread> workers;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  acceptor_.join();
  workers.swap(workers_);
  for (std::thread& worker : workers) worker.join();
  close(listener_);
}

std::string HttpTestServer::origin() const {
  return fmt::format("http://127.0.0.1:{}", port_);
}

void HttpTestServer::Put(const std::string& path, ServedObject object) {
  const std::lock_guard lock(mutex_);
  objects_[path] = std::move(object);
}

void HttpTestServer::Break(const std::string& path, const Fault& fault, size_t times) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < times; ++i) faults_[path].push_back(fault);
}

void HttpTestServer::OnRequest(std::function<void(const ServedRequest&)> hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

std::vector<ServedRequest> HttpTestServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

size_t HttpTestServer::most_at_once() const {
  const std::lock_guard lock(mutex_);
  return most_at_once_;
}

void HttpTestServer::Accept() {
  for (size_t connection = 0;; ++connection) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (stopping_ || fd < 0) {
      if (fd >= 0) close(fd);
      return;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    open_.insert(fd);
    workers_.emplace_back([this, fd, connection] { Serve(fd, connection); });
  }
}

void HttpTestServer::Serve(int fd, size_t connection) {
  std::string buffered;
  while (const auto head = ReadHead(fd, buffered)) {
    const ServedRequest request = ParseRequest(*head, connection);
    std::function<void(const ServedRequest&)> hook;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      most_at_once_ = std::max(most_at_once_, ++at_once_);
      hook = hook_;
    }
    if (hook) hook(request);
    const bool keep = Reply(fd, request);
    const std::lock_guard lock(mutex_);
    --at_once_;
    if (!keep) break;
  }
  const std::lock_guard lock(mutex_);
  open_.erase(fd);
  close(fd);
}

HttpTestServer::Answer HttpTestServer::MakeAnswer(const ServedRequest& request,
                                                  const Fault& fault) const {
  const auto found = objects_.find(request.target.substr(0, request.target.find('?')));
  int status = 200;
  std::string fields;
  std::string body;
  if (fault.status || found == objects_.end()) {
    status = fault.status.value_or(404);
    body = fmt::format("status {}\n", status);
  } else {
    const ServedObject& object = found->second;
    body = object.body;
    const std::string range = fault.ignore_range ? "" : request.header("range");
    unsigned long long first = 0;
    unsigned long long last = 0;
    const size_t total = object.body.size();
    unsigned long long suffix = 0;
    if (std::sscanf(range.c_str(), "bytes=-%llu", &suffix) == 1) {
      first = total - std::min<unsigned long long>(suffix, total);
      last = std::max<unsigned long long>(total, 1) - 1;
    }
    if (suffix > 0 || std::sscanf(range.c_str(), "bytes=%llu-%llu", &first, &last) == 2) {
      std::string content_range = fmt::format("bytes */{}", total);
      if (first < total) {
        status = 206;
        last = std::min<unsigned long long>(last, total - 1);
        body = object.body.substr(first, last - first + 1);
        content_range = fmt::format("bytes {}-{}/{}", first, last, total);
      } else {
        status = 416;
        body = "status 416\n";
      }
      fields += fmt::format("Content-Range: {}\r\n",
                            fault.content_range.value_or(content_range));
    }
    const std::string etag = fault.etag.value_or(object.etag);
    if (!etag.empty()) fields += fmt::format("ETag: {}\r\n", etag);
    if (!object.last_modified.empty()) {
      fields += fmt::format("Last-Modified: {}\r\n", object.last_modified);
    }
    if (!object.content_encoding.empty()) {
      fields += fmt::format("Content-Encoding: {}\r\n", object.content_encoding);
    }
  }
  body += fault.body_suffix;
  for (const std::string& line : fault.headers) fields += line + "\r\n";
  fields += fault.no_content_length ? "Connection: close\r\n"
                                    : fmt::format("Content-Length: {}\r\n", body.size());
  if (request.method == "HEAD") body.clear();
  return {fmt::format("HTTP/1.1 {} Scripted\r\n{}\r\n", status, fields), std::move(body)};
}

bool HttpTestServer::Reply(int fd, const ServedRequest& request) {
  Fault fault;
  Answer answer;
  {
    const std::lock_guard lock(mutex_);
    auto& script = faults_[request.target.substr(0, request.target.find('?'))];
    if (!script.empty()) {
      fault = script.front();
      script.pop_front();
    }
    answer = MakeAnswer(request, fault);
  }
  if (fault.close_at_once) return false;
  if (!SendAll(fd, answer.head)) return false;
  if (fault.body_delay.count() > 0) std::this_thread::sleep_for(fault.body_delay);
  const std::string_view body = answer.body;
  if (!SendAll(fd, body.substr(0, fault.body_bytes_sent.value_or(body.size()))))
    return false;
  return !fault.body_bytes_sent && !fault.no_content_length;
}

}  // namespace dolium
