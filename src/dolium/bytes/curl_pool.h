// CurlPool: libcurl sessions with their open connections, borrowed by one call at a time.
//
// A session runs many transfers at once over connections that it keeps; libcurl does not
// allow threads to share them, so each call borrows a session of its own, the one used
// last first, and gives it back with its connections still open. The pool may be used
// from many threads, a session by one at a time. After a fork, the child starts with an
// empty pool.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/bytes/http_headers.h"

namespace dolium {

struct TransferOptions {
  std::chrono::milliseconds connect_timeout{10'000};
  // An attempt that receives less than so many bytes per second for so long has failed. A
  // server that sends a byte now and then would hold its reader for ever otherwise.
  uint64_t min_rate = 1000;
  std::chrono::seconds stall_timeout{30};
  // The most that one attempt may take; 0 for no such limit.
  std::chrono::milliseconds attempt_timeout{600'000};
  // Transfers of one call that run at the same time.
  size_t max_concurrency = 32;
  // Where to connect instead, as `host:port:to_host:to_port`; the name stays in the
  // request.
  std::vector<std::string> connect_to;
};

struct HttpRequest {
  enum class Method : uint8_t { kGet, kHead };
  Method method = Method::kGet;
  std::string url;
  std::optional<ByteRange> range;  // not empty
  std::optional<uint64_t> suffix;  // so many of the last bytes, instead of a range
  bool accept_encoded = false;     // else identity; bodies are never decoded here
};

// Receives one response. Redirects have been followed before it sees anything.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;

  // The header, once, before any of the body; false if the body is not wanted.
  virtual bool OnHeader(const ResponseHeader& header) = 0;
  // The next bytes of the body as sent; false stops the transfer.
  virtual bool OnBody(BytesView bytes) = 0;
};

// How an attempt ended.
struct TransferEnd {
  ResponseSink* sink = nullptr;
  bool complete = false;   // the response came whole, or its sink did not want the rest
  bool retryable = false;  // if not complete: whether another attempt may fare better
  std::string cause;       // if not complete
  std::optional<std::chrono::seconds> retry_after;
  uint64_t bytes = 0;  // of the body, received
};

class CurlSession {
 public:
  explicit CurlSession(const TransferOptions& options);
  ~CurlSession();
  CurlSession(const CurlSession&) = delete;
  CurlSession& operator=(const CurlSession&) = delete;

  // Starts a request; `sink` must live until its end was returned or Cancel() was called.
  void Start(const HttpRequest& request, ResponseSink& sink);
  size_t running() const { return running_.size(); }

  // Works on what is running until something ends, `timeout` has passed or `stop` is
  // requested.
  std::vector<TransferEnd> Wait(std::chrono::milliseconds timeout,
                                const std::stop_token& stop);

  // Drops all that is running.
  void Cancel();

 private:
  struct Transfer;

  void SetOptions(const HttpRequest& request, Transfer& transfer);
  TransferEnd Finish(Transfer& transfer, int curl_code);
  std::vector<TransferEnd> Ended();

  const TransferOptions options_;
  void* multi_;
  void* connect_to_ = nullptr;
  std::vector<std::unique_ptr<Transfer>> running_;
  std::vector<std::unique_ptr<Transfer>> idle_;
};

class CurlPool {
 public:
  explicit CurlPool(TransferOptions options);

  // A session on loan; its end gives it back, after a Cancel().
  class Lease {
   public:
    Lease(CurlPool& pool, std::unique_ptr<CurlSession> session)
        : pool_(&pool), session_(std::move(session)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (session_ != nullptr) pool_->Return(std::move(session_));
    }
    CurlSession* operator->() const { return session_.get(); }

   private:
    CurlPool* pool_;
    std::unique_ptr<CurlSession> session_;
  };

  Lease Borrow();
  const TransferOptions& options() const { return options_; }

 private:
  void Return(std::unique_ptr<CurlSession> session);
  void ForgetAfterFork();

  const TransferOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CurlSession>> idle_;  // guarded by mutex_
  pid_t owner_;                                     // guarded by mutex_
};

}  // namespace dolium
