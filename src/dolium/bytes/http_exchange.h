// Exchange: one question to an HTTP server, asked again until it is answered or hopeless.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/curl_pool.h"
#include "dolium/bytes/retry.h"

namespace dolium {

// Why an attempt is no good.
struct Failure {
  Error error;
  bool retry = false;
};

// The request, and the checks of its answer. Lives on the stack of the call that asks;
// used by one thread at a time.
class Exchange : private ResponseSink {
 public:
  // `name` is the object's, for messages.
  Exchange(std::string name, HttpRequest request)
      : name_(std::move(name)), request_(std::move(request)) {}

  const std::string& name() const { return name_; }
  const HttpRequest& request() const { return request_; }

 protected:
  // A new attempt begins: forget what the last one brought.
  virtual void Restart() = 0;
  // Each refuses the answer by returning why. CheckEnd comes after a complete body.
  virtual std::optional<Failure> CheckHeader(const ResponseHeader& header) = 0;
  virtual std::optional<Failure> TakeBody(BytesView bytes) = 0;
  virtual std::optional<Failure> CheckEnd() = 0;

  // For CheckHeader: the header is all that was wanted. This may cost the connection.
  void SkipBody() { skip_body_ = true; }

 private:
  friend class ExchangeRunner;

  bool OnHeader(const ResponseHeader& header) final;
  bool OnBody(BytesView bytes) final;

  const std::string name_;
  const HttpRequest request_;
  std::optional<Failure> failure_;  // of the current attempt
  bool skip_body_ = false;          // in the current attempt
  int attempts_ = 0;
};

// Counted over the life of a store, by all threads.
struct HttpCounters {
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> retries = 0;
  std::atomic<uint64_t> bytes = 0;
};

// Runs all exchanges, several at a time, each with its own attempts, and waits for them.
// The first hopeless one ends them all. After the last attempt the error is kUnavailable
// and reports the number of attempts and the last cause. kCancelled, at once, if the stop
// is requested that waits of this thread follow (base/stop.h).
Result<void> RunExchanges(CurlPool& pool, std::span<Exchange* const> exchanges,
                          const RetryPolicy& policy, HttpCounters& counters);

// What an answer with an error status means: kNotFound for 404 and 410, and for 403 where
// `forbidden_is_missing`; worth a retry for 408, 429 and 5xx; else kIo.
Failure StatusFailure(const std::string& name, int status, bool forbidden_is_missing);

}  // namespace dolium
