#include "dolium/bytes/http_store.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/coalesce.h"
#include "dolium/bytes/http_reads.h"
#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

constexpr uint64_t kStatReadLimit = uint64_t{64} << 20;
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool MayStandInPath(char c) {
  return IsAlnum(c) ||
         std::string_view("-._~!$&'()*+,;=:@/").find(c) != std::string_view::npos;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that `%XY` at the front of `text` stands for, or -1.
int EscapedByte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = HexValue(text[1]);
  const int low = HexValue(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// `host[:port]` of an origin, or of anything that claims to be one.
std::string_view Authority(std::string_view origin) {
  const size_t slashes = origin.find("//");
  return slashes == std::string_view::npos ? "" : origin.substr(slashes + 2);
}

bool IsAuthority(std::string_view text) {
  std::string_view host = text.substr(0, text.rfind(':'));
  std::string_view port = text.substr(host.size());
  if (text.starts_with('[')) {  // An IPv6 address has colons of its own.
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    const auto is_address = [](char c) {
      return HexValue(c) >= 0 || c == ':' || c == '.';
    };
    if (!std::all_of(host.begin(), host.end(), is_address)) return false;
  } else {
    const auto is_name = [](char c) {
      return IsAlnum(c) || c == '.' || c == '-' || c == '_';
    };
    if (!std::all_of(host.begin(), host.end(), is_name)) return false;
  }
  if (host.empty()) return false;
  if (port.empty()) return true;
  const auto number = ParseDecimal(port.substr(1));
  return port.front() == ':' && number && *number > 0 && *number < 65536;
}

}  // namespace

bool ForbiddenIsMissing(std::string_view host) {
  host = host.substr(0, host.find(':'));
  return host == "storage.googleapis.com" || host.ends_with(".storage.googleapis.com") ||
         host.ends_with(".amazonaws.com");
}

std::string EncodeUrlPath(std::string_view path) {
  std::string url;
  url.reserve(path.size());
  for (size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (MayStandInPath(c) || EscapedByte(path.substr(i)) == '/') {
      url += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      url += '%';
      url += kHexDigits[byte >> 4];
      url += kHexDigits[byte & 15];
    }
  }
  return url;
}

std::string DecodeUrlPath(std::string_view path) {
  std::string name;
  name.reserve(path.size());
  for (size_t i = 0; i < path.size(); ++i) {
    const int byte = EscapedByte(path.substr(i));
    if (byte < 0 || byte == '/') {
      name += path[i];
    } else {
      name += static_cast<char>(byte);
      i += 2;
    }
  }
  return name;
}

Result<std::shared_ptr<HttpStore>> HttpStore::Open(std::string_view origin,
                                                   std::string_view query,
                                                   HttpOptions options) {
  const std::string_view authority = Authority(origin);
  if (authority.find('@') != std::string_view::npos) {
    return InvalidArgument("user names and passwords in URLs are not supported");
  }
  const bool known = origin.starts_with("http://") || origin.starts_with("https://");
  if (!known || !IsAuthority(authority)) {
    return InvalidArgument(fmt::format("\"{}\" is not http[s]://host[:port]", origin));
  }
  const auto may_stand_in_query = [](char c) { return c > ' ' && c < 127 && c != '#'; };
  if (!std::all_of(query.begin(), query.end(), may_stand_in_query)) {
    return InvalidArgument(
        fmt::format("{}: the query has characters that must be percent-encoded", origin));
  }
  return std::shared_ptr<HttpStore>(
      new HttpStore(std::string(origin), std::string(query), std::move(options)));
}

HttpStore::HttpStore(std::string origin, std::string query, HttpOptions options)
    : origin_(std::move(origin)),
      query_(std::move(query)),
      options_(std::move(options)),
      forbidden_is_missing_(ForbiddenIsMissing(Authority(origin_))),
      pool_(options_.transfer) {}

std::string HttpStore::Describe(std::string_view object) const {
  return object.empty() ? origin_ : fmt::format("{}/{}", origin_, EncodeUrlPath(object));
}

HttpRequest HttpStore::Get(std::string_view object) const {
  HttpRequest request;
  request.url = fmt::format("{}/{}", origin_, EncodeUrlPath(object));
  if (!query_.empty()) request.url.append("?").append(query_);
  return request;
}

Result<void> HttpStore::Run(std::span<Exchange* const> exchanges) const {
  return RunExchanges(pool_, exchanges, options_.retry, counters_);
}

HttpStore::Stats HttpStore::stats() const {
  return {counters_.requests, counters_.retries, counters_.bytes};
}

Result<std::optional<ObjectInfo>> HttpStore::Stat(std::string_view object) const {
  if (head_refused_) return StatByReading(object);
  HttpRequest request = Get(object);
  request.method = HttpRequest::Method::kHead;
  HeadExchange head(Describe(object), std::move(request), forbidden_is_missing_);
  Exchange* exchange = &head;
  auto done = Run({&exchange, 1});
  if (!done) {
    if (done.error().code == ErrorCode::kNotFound) return std::nullopt;
    return std::move(done).error();
  }
  if (head.refused()) head_refused_ = true;
  if (head.info()) return head.info();
  return StatByReading(object);
}

Result<std::optional<ObjectInfo>> HttpStore::StatByReading(
    std::string_view object) const {
  HttpRequest request = Get(object);
  request.range = ByteRange{0, 1};
  FirstByteExchange first(Describe(object), std::move(request), forbidden_is_missing_);
  Exchange* exchange = &first;
  auto done = Run({&exchange, 1});
  if (!done) {
    if (done.error().code == ErrorCode::kNotFound) return std::nullopt;
    return std::move(done).error();
  }
  if (first.info()) return first.info();
  auto whole = ReadWhole(object, kStatReadLimit);
  if (whole) return ObjectInfo{whole->bytes.size(), whole->generation};
  if (whole.error().code == ErrorCode::kNotFound) return std::nullopt;
  return std::move(whole).error().Within("the server reports no size");
}

Result<ObjectInfo> HttpStore::ReadInto(std::string_view object,
                                       std::span<const ReadSlice> slices,
                                       const ReadOptions& options) const {
  const std::string name = Describe(object);
  std::vector<ByteRange> ranges;
  std::vector<const ReadSlice*> wanted;
  for (const ReadSlice& slice : slices) {
    if (slice.into.empty()) continue;
    if (!ByteRange::Make(slice.offset, slice.into.size())) {
      return Corrupt(fmt::format("{}: bytes [{}, {} + {}) end past 2^64", name,
                                 slice.offset, slice.offset, slice.into.size()));
    }
    ranges.push_back(slice.range());
    wanted.push_back(&slice);
  }
  if (ranges.empty()) {
    DOLIUM_TRY(std::optional<ObjectInfo> info, Stat(object));
    if (!info) return NoSuchObjectError(name);
    if (options.if_generation && *options.if_generation != info->generation) {
      return ChangedError(name);
    }
    if (const ReadSlice* past = FindSlicePastEnd(slices, info->size)) {
      return PastEndError(name, past->offset, past->into.size(), info->size);
    }
    return *std::move(info);
  }

  const auto groups = CoalesceRanges(ranges, options_.max_gap, options_.max_merged);
  for (bool again = false;; again = true) {
    RangeReadState state{slices, options.if_generation, std::nullopt, false};
    std::vector<std::unique_ptr<RangeExchange>> reads;
    std::vector<Exchange*> exchanges;
    for (const auto& group : groups) {
      HttpRequest request = Get(object);
      request.range = group.covering;
      std::vector<const ReadSlice*> group_slices;
      group_slices.reserve(group.indices.size());
      for (const size_t index : group.indices) group_slices.push_back(wanted[index]);
      reads.push_back(std::make_unique<RangeExchange>(name, std::move(request),
                                                      forbidden_is_missing_,
                                                      std::move(group_slices), state));
      exchanges.push_back(reads.back().get());
    }
    auto done = Run(exchanges);
    if (done) {
      return ObjectInfo{state.total.value_or(0), state.generation.value_or(Generation())};
    }
    // The object was replaced between two groups: all of them must be read again.
    if (state.changed && !options.if_generation && !again) continue;
    return std::move(done).error();
  }
}

Result<Suffix> HttpStore::ReadSuffix(std::string_view object, uint64_t length) const {
  if (length == 0) return Store::ReadSuffix(object, length);
  HttpRequest request = Get(object);
  request.suffix = length;
  SuffixExchange read(Describe(object), std::move(request), forbidden_is_missing_);
  Exchange* exchange = &read;
  DOLIUM_TRY_VOID(Run({&exchange, 1}));
  return std::move(read).Take();
}

Result<WholeObject> HttpStore::ReadWhole(std::string_view object, uint64_t limit) const {
  HttpRequest request = Get(object);
  request.accept_encoded = true;
  WholeExchange read(Describe(object), std::move(request), forbidden_is_missing_, limit);
  Exchange* exchange = &read;
  DOLIUM_TRY_VOID(Run({&exchange, 1}));
  return std::move(read).Take();
}

Result<ObjectInfo> HttpStore::ReadThrough(std::string_view object,
                                          const Download& download) const {
  ThroughExchange read(Describe(object), Get(object), forbidden_is_missing_, download);
  Exchange* exchange = &read;
  DOLIUM_TRY_VOID(Run({&exchange, 1}));
  return read.info();
}

Result<void> HttpStore::List(std::string_view folder, const ListVisitor&) const {
  return Unsupported(
      fmt::format("{}: plain HTTP cannot list objects; name each one", Describe(folder)));
}

Result<std::unique_ptr<ObjectWriter>> HttpStore::Begin(std::string_view object) {
  return Unsupported(fmt::format("{}: HTTP locations are read-only", Describe(object)));
}

Result<void> HttpStore::Remove(std::string_view object, const Precondition&) {
  return Unsupported(fmt::format("{}: HTTP locations are read-only", Describe(object)));
}

}  // namespace dolium
