#include "dolium/bytes/http_exchange.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/stop.h"
#include "dolium/bytes/slice_check.h"

namespace dolium {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

bool Exchange::OnHeader(const ResponseHeader& header) {
  failure_ = CheckHeader(header);
  return !failure_ && !skip_body_;
}

bool Exchange::OnBody(BytesView bytes) {
  failure_ = TakeBody(bytes);
  return !failure_;
}

Failure StatusFailure(const std::string& name, int status, bool forbidden_is_missing) {
  if (status == 404 || status == 410 || (status == 403 && forbidden_is_missing)) {
    return {NoSuchObjectError(name)};
  }
  if (IsRetryableStatus(status)) {
    return {Unavailable(fmt::format("{}: HTTP {}", name, status)), true};
  }
  if (status == 401 || status == 403) {
    return {
        IoError(fmt::format("{}: HTTP {}; the server wants credentials, or others than "
                            "those in the query of the location",
                            name, status))};
  }
  if (status == 0) return {IoError(fmt::format("{}: the answer is not HTTP", name))};
  return {IoError(fmt::format("{}: HTTP {}", name, status))};
}

class ExchangeRunner {
 public:
  ExchangeRunner(CurlPool& pool, std::span<Exchange* const> exchanges,
                 const RetryPolicy& policy, HttpCounters& counters)
      : session_(pool.Borrow()),
        concurrency_(std::max<size_t>(pool.options().max_concurrency, 1)),
        name_(exchanges.empty() ? std::string() : exchanges.front()->name()),
        fresh_(exchanges),
        policy_(policy),
        counters_(counters) {}

  Result<void> Run() {
    while (!fresh_.empty() || !waiting_.empty() || session_->running() > 0) {
      if (stop_.stop_requested()) {
        return Cancelled(fmt::format("stopped on request, while waiting for {}", name_));
      }
      StartWhatMay();
      for (const TransferEnd& end : session_->Wait(TimeToNextRetry(), stop_)) {
        counters_.bytes += end.bytes;
        DOLIUM_TRY_VOID(Settle(*static_cast<Exchange*>(end.sink), end));
      }
    }
    return {};
  }

 private:
  struct Waiting {
    Clock::time_point due;
    Exchange* exchange;
  };

  void Start(Exchange& exchange) {
    ++counters_.requests;
    if (exchange.attempts_++ > 0) ++counters_.retries;
    exchange.failure_.reset();
    exchange.skip_body_ = false;
    exchange.Restart();
    session_->Start(exchange.request_, exchange);
  }

  void StartWhatMay() {
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < waiting_.size() && session_->running() < concurrency_;) {
      if (waiting_[i].due > now) {
        ++i;
        continue;
      }
      Exchange& exchange = *waiting_[i].exchange;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      Start(exchange);
    }
    while (!fresh_.empty() && session_->running() < concurrency_) {
      Exchange& exchange = *fresh_.front();
      fresh_ = fresh_.subspan(1);
      Start(exchange);
    }
  }

  milliseconds TimeToNextRetry() const {
    milliseconds wait{60'000};
    if (session_->running() >= concurrency_) return wait;
    const Clock::time_point now = Clock::now();
    for (const Waiting& waiting : waiting_) {
      wait = std::min(wait, std::chrono::ceil<milliseconds>(waiting.due - now));
    }
    return std::max(wait, milliseconds(0));
  }

  // The answer is good, or tried again later, or the end of all.
  Result<void> Settle(Exchange& exchange, const TransferEnd& end) {
    std::optional<Failure> failure = std::move(exchange.failure_);
    if (!failure && end.complete) failure = exchange.CheckEnd();
    if (!failure && !end.complete) {
      Error error = IoError(fmt::format("{}: {}", exchange.name_, end.cause));
      failure = Failure{std::move(error), end.retryable};
    }
    if (!failure) return {};
    if (!failure->retry) return std::move(failure->error);
    if (exchange.attempts_ >= policy_.attempts) {
      return Unavailable(fmt::format("{} (attempt {} of {})", failure->error.message,
                                     exchange.attempts_, policy_.attempts));
    }
    const milliseconds delay =
        NextRetryDelay(policy_, exchange.attempts_, end.retry_after);
    waiting_.push_back({Clock::now() + delay, &exchange});
    return {};
  }

  CurlPool::Lease session_;
  const size_t concurrency_;
  const std::stop_token stop_ = CurrentStop();
  const std::string name_;  // of the first
  std::span<Exchange* const> fresh_;
  std::vector<Waiting> waiting_;
  const RetryPolicy& policy_;
  HttpCounters& counters_;
};

Result<void> RunExchanges(CurlPool& pool, std::span<Exchange* const> exchanges,
                          const RetryPolicy& policy, HttpCounters& counters) {
  return ExchangeRunner(pool, exchanges, policy, counters).Run();
}

}  // namespace dolium
