// HttpStore: the objects below one http or https origin, read-only.
//
// Object names are URL paths without the leading slash. What may not stand in a URL is
// percent-encoded on the way out; `%2F`, a slash within a name, passes as it is. A query
// (`token=x`) goes with every request and never into messages or Describe().
//
// Ranged reads ask for identity encoding and insist on 206 with exactly the range asked
// for; whole reads accept gzip, brotli and zstd and undo them. Answers 408, 429 and 5xx,
// lost connections, timeouts, bodies that break off and those that come at less than the
// minimum rate are tried again; other errors are final. A requested stop (base/stop.h)
// ends all waits at once, as kCancelled. Google and Amazon answer 403 for objects that do
// not exist in a bucket that may not be listed: there, and only there, 403 means not
// found.
//
// TLS certificates are checked against CURL_CA_BUNDLE or SSL_CERT_FILE if set, else
// against the system's. Proxies come from the environment, as with curl; .netrc and
// cookies are not used. All methods may be called from many threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/bytes/curl_pool.h"
#include "dolium/bytes/http_exchange.h"
#include "dolium/bytes/retry.h"
#include "dolium/bytes/store.h"

namespace dolium {

struct HttpOptions {
  TransferOptions transfer;
  RetryPolicy retry;
  // Ranges at most this far apart are read as one, up to this length.
  uint64_t max_gap = uint64_t{32} << 10;
  uint64_t max_merged = uint64_t{8} << 20;
};

// The defaults, but for what the environment says: DOLIUM_HTTP_MIN_RATE (bytes per
// second) and DOLIUM_HTTP_TIMEOUT (seconds, how long that may last). kInvalidArgument if
// one of them is no number.
Result<HttpOptions> HttpOptionsFromEnvironment();

class HttpStore final : public Store {
 public:
  // `origin` is `http[s]://host[:port]`, nothing more; `query` comes without its `?` and
  // is sent as it is. kInvalidArgument if either is malformed. Touches no network.
  static Result<std::shared_ptr<HttpStore>> Open(std::string_view origin,
                                                 std::string_view query = {},
                                                 HttpOptions options = {});

  // The URL, without the query.
  std::string Describe(std::string_view object) const override;

  // By HEAD; where the server does not allow it or reports no size, by reading byte 0,
  // and if that fails too, by reading the whole of an object of at most 64 MiB.
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override;
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override;
  Result<ObjectInfo> ReadThrough(std::string_view object,
                                 const Download& download) const override;
  Result<Suffix> ReadSuffix(std::string_view object, uint64_t length) const override;
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override;

  // kUnsupported.
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override;
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override;
  Result<void> Remove(std::string_view object, const Precondition& precondition) override;

  struct Stats {
    uint64_t requests = 0;  // retries included, redirects not
    uint64_t retries = 0;
    uint64_t bytes = 0;  // of bodies, as sent
  };
  Stats stats() const;

 private:
  HttpStore(std::string origin, std::string query, HttpOptions options);

  HttpRequest Get(std::string_view object) const;
  Result<void> Run(std::span<Exchange* const> exchanges) const;
  Result<std::optional<ObjectInfo>> StatByReading(std::string_view object) const;

  const std::string origin_;
  const std::string query_;
  const HttpOptions options_;
  const bool forbidden_is_missing_;
  mutable CurlPool pool_;
  mutable HttpCounters counters_;
  mutable std::atomic<bool> head_refused_ = false;
};

// True for the hosts where 403 may mean that there is no such object.
bool ForbiddenIsMissing(std::string_view host);

// Percent-encodes what may not stand in the path of a URL, and `%` unless it is of `%2F`.
std::string EncodeUrlPath(std::string_view path);
// Undoes percent-encoding, except `%2F`; a `%` without two hex digits stays.
std::string DecodeUrlPath(std::string_view path);

}  // namespace dolium
