// HttpTestServer: a small HTTP/1.1 server on the loopback interface, which misbehaves on
// request and remembers what it was asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace dolium {

struct ServedObject {
  std::string body;
  std::string etag;  // with its quotes; empty: none is sent
  std::string last_modified;
  std::string content_encoding;  // sent as it is; the body is not touched
};

// What to do wrong with one answer. Fields left alone do nothing.
struct Fault {
  std::optional<int> status;                 // this status, with a short text as body
  std::vector<std::string> headers;          // more header lines, without line ends
  std::optional<std::string> etag;           // instead of the object's; empty: none
  std::optional<std::string> content_range;  // instead of the right one
  std::optional<size_t> body_bytes_sent;     // then the connection is closed
  std::string body_suffix;         // sent after the body, and counted in its length
  bool ignore_range = false;       // 200 and the whole body
  bool no_content_length = false;  // the body ends with the connection
  bool close_at_once = false;      // no answer at all
  std::chrono::milliseconds body_delay{0};  // between head and body
};

struct ServedRequest {
  std::string method;
  std::string target;                          // path and query, as sent
  std::map<std::string, std::string> headers;  // names in lower case
  size_t connection = 0;                       // numbered from 0

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

// Objects are keyed by path with its leading slash, as sent (percent-encoded). A path
// with no object answers 404. All methods may be called from any thread.
class HttpTestServer {
 public:
  HttpTestServer();
  ~HttpTestServer();
  HttpTestServer(const HttpTestServer&) = delete;
  HttpTestServer& operator=(const HttpTestServer&) = delete;

  uint16_t port() const { return port_; }
  std::string origin() const;

  void Put(const std::string& path, ServedObject object);
  // The next `times` requests for `path`, after those with faults already, go wrong so.
  void Break(const std::string& path, const Fault& fault, size_t times = 1);
  // Called with every request before it is answered.
  void OnRequest(std::function<void(const ServedRequest&)> hook);

  std::vector<ServedRequest> requests() const;
  size_t request_count() const { return requests().size(); }
  // The largest number of requests that were being answered at the same time.
  size_t most_at_once() const;

 private:
  struct Answer;

  void Accept();
  void Serve(int fd, size_t connection);
  // False if the connection is to be closed.
  bool Reply(int fd, const ServedRequest& request);
  Answer MakeAnswer(const ServedRequest& request, const Fault& fault) const;

  int listener_ = -1;
  uint16_t port_ = 0;
  std::thread acceptor_;

  mutable std::mutex mutex_;  // guards all below
  bool stopping_ = false;
  std::map<std::string, ServedObject> objects_;
  std::map<std::string, std::deque<Fault>> faults_;
  std::function<void(const ServedRequest&)> hook_;
  std::vector<ServedRequest> requests_;
  std::vector<std::thread> workers_;
  std::set<int> open_;
  size_t at_once_ = 0;
  size_t most_at_once_ = 0;
};

}  // namespace dolium
