#include "dolium/bytes/curl_pool.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include <curl/curl.h>
#include <fmt/format.h>

#include "dolium/bytes/stream_decoder.h"

namespace dolium {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr long kMaxRedirects = 5;
constexpr size_t kMaxIdleSessions = 64;
// The page that explains an error is read up to here, to keep the connection; a longer
// one costs the connection.
constexpr uint64_t kMaxUnwantedBytes = 64 << 10;

void InitCurlOnce() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) throw std::bad_alloc();
}

// curl's own tool reads these variables; its library does not.
const char* CaBundle() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* path = std::getenv(name);
    if (path != nullptr && *path != '\0') return path;
  }
  return nullptr;
}

bool IsRetryable(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct CurlSession::Transfer {
  Transfer() : easy(curl_easy_init()) {
    if (easy == nullptr) throw std::bad_alloc();
  }
  ~Transfer() {
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Gives the header to the sink, unless that was done.
  void ShowHeader() {
    if (header_shown) return;
    header_shown = true;
    wanted = sink->OnHeader(header);
  }

  // Exceptions, which can only be of memory, must not pass through libcurl's frames.
  static size_t OnHeaderLine(char* data, size_t, size_t size, void* self) noexcept {
    static_cast<Transfer*>(self)->header.AddLine({data, size});
    return size;
  }
  static size_t OnBodyBytes(char* data, size_t, size_t size, void* self) noexcept {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.bytes += size;
    transfer.ShowHeader();
    if (transfer.wanted) {
      transfer.stopped = !transfer.sink->OnBody(AsBytes({data, size}));
    } else {
      transfer.stopped =
          transfer.header.status() < 400 || transfer.bytes > kMaxUnwantedBytes;
    }
    return transfer.stopped ? CURL_WRITEFUNC_ERROR : size;
  }

  CURL* easy;
  curl_slist* headers = nullptr;
  std::array<char, CURL_ERROR_SIZE> error{};
  ResponseSink* sink = nullptr;
  ResponseHeader header;
  bool header_shown = false;
  bool wanted = false;
  bool stopped = false;
  uint64_t bytes = 0;
};

CurlSession::CurlSession(const TransferOptions& options) : options_(options) {
  InitCurlOnce();
  multi_ = curl_multi_init();
  if (multi_ == nullptr) throw std::bad_alloc();
  const auto connections = static_cast<long>(options_.max_concurrency);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, connections);
  curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
  for (const std::string& entry : options_.connect_to) {
    connect_to_ = curl_slist_append(static_cast<curl_slist*>(connect_to_), entry.c_str());
  }
}

CurlSession::~CurlSession() {
  Cancel();
  idle_.clear();
  curl_multi_cleanup(multi_);
  curl_slist_free_all(static_cast<curl_slist*>(connect_to_));
}

void CurlSession::SetOptions(const HttpRequest& request, Transfer& transfer) {
  CURL* easy = transfer.easy;
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::OnHeaderLine);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::OnBodyBytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // A stop waits for no name server.
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "dolium/" DOLIUM_VERSION);

  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Rather share a connection that turns out to speak HTTP/2 than open one per transfer.
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, request.url.starts_with("https:") ? 1L : 0L);
  if (const char* bundle = CaBundle()) curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
  if (connect_to_ != nullptr) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);

  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options_.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT,
                   static_cast<long>(std::max<uint64_t>(options_.min_rate, 1)));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                   static_cast<long>(options_.stall_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(options_.attempt_timeout.count()));

  if (request.method == HttpRequest::Method::kHead)
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (request.suffix) {
    const std::string text = fmt::format("-{}", *request.suffix);
    curl_easy_setopt(easy, CURLOPT_RANGE, text.c_str());
  } else if (request.range) {
    const ByteRange range = *request.range;
    const std::string text = fmt::format("{}-{}", range.offset, range.end() - 1);
    curl_easy_setopt(easy, CURLOPT_RANGE, text.c_str());
  }
  curl_slist_free_all(transfer.headers);
  // Not CURLOPT_ACCEPT_ENCODING: it would decode, without noticing a cut-off stream.
  const std::string accepted = fmt::format(
      "Accept-Encoding: {}",
      request.accept_encoded ? kAcceptedEncodings : std::string_view("identity"));
  transfer.headers = curl_slist_append(nullptr, accepted.c_str());
  if (transfer.headers == nullptr) throw std::bad_alloc();
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers);
}

void CurlSession::Start(const HttpRequest& request, ResponseSink& sink) {
  if (idle_.empty()) idle_.push_back(std::make_unique<Transfer>());
  running_.reserve(running_.size() + 1);
  Transfer& transfer = *idle_.back();
  transfer.error.front() = '\0';
  transfer.sink = &sink;
  transfer.header = ResponseHeader();
  transfer.header_shown = transfer.wanted = transfer.stopped = false;
  transfer.bytes = 0;
  SetOptions(request, transfer);
  if (curl_multi_add_handle(multi_, transfer.easy) != CURLM_OK) throw std::bad_alloc();
  running_.push_back(std::move(idle_.back()));
  idle_.pop_back();
}

TransferEnd CurlSession::Finish(Transfer& transfer, int curl_code) {
  const auto code = static_cast<CURLcode>(curl_code);
  TransferEnd end;
  end.sink = transfer.sink;
  end.bytes = transfer.bytes;
  if (code == CURLE_OK || transfer.stopped) {
    transfer.ShowHeader();
    end.complete = true;
  } else {
    const char* text = transfer.error.data();
    end.retryable = IsRetryable(code);
    end.cause = *text != '\0' ? text : curl_easy_strerror(code);
  }
  curl_off_t retry_after = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &retry_after);
  if (retry_after > 0) end.retry_after = seconds(retry_after);
  return end;
}

std::vector<TransferEnd> CurlSession::Ended() {
  std::vector<TransferEnd> ends;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    char* self = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &self);
    const auto found = std::find_if(
        running_.begin(), running_.end(),
        [self](const auto& t) { return static_cast<void*>(t.get()) == self; });
    ends.push_back(Finish(**found, code));
    curl_multi_remove_handle(multi_, (*found)->easy);
    idle_.push_back(std::move(*found));
    running_.erase(found);
  }
  return ends;
}

std::vector<TransferEnd> CurlSession::Wait(milliseconds timeout,
                                           const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + timeout;
  // Wakes the poll below, even one that has not begun.
  const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_); });
  while (true) {
    int still_running = 0;
    curl_multi_perform(multi_, &still_running);
    std::vector<TransferEnd> ends = Ended();
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (!ends.empty() || left <= milliseconds(0) || stop.stop_requested()) return ends;
    curl_multi_poll(multi_, nullptr, 0, static_cast<int>(left.count()), nullptr);
  }
}

void CurlSession::Cancel() {
  for (auto& transfer : running_) {
    curl_multi_remove_handle(multi_, transfer->easy);
    idle_.push_back(std::move(transfer));
  }
  running_.clear();
}

CurlPool::CurlPool(TransferOptions options)
    : options_(std::move(options)), owner_(getpid()) {}

// The parent goes on to use the connections: closing them here would end its TLS
// sessions.
void CurlPool::ForgetAfterFork() {
  if (owner_ == getpid()) return;
  for (auto& session : idle_) {
    [[maybe_unused]] const auto* left_to_the_parent = session.release();
  }
  idle_.clear();
  owner_ = getpid();
}

CurlPool::Lease CurlPool::Borrow() {
  {
    const std::lock_guard lock(mutex_);
    ForgetAfterFork();
    if (!idle_.empty()) {
      auto session = std::move(idle_.back());
      idle_.pop_back();
      return {*this, std::move(session)};
    }
  }
  return {*this, std::make_unique<CurlSession>(options_)};
}

void CurlPool::Return(std::unique_ptr<CurlSession> session) {
  session->Cancel();
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdleSessions) idle_.push_back(std::move(session));
}

}  // namespace dolium
