#include "dolium/bytes/http_reads.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

// Space reserved on the word of the server alone.
constexpr uint64_t kMaxReserve = uint64_t{16} << 20;

// More than gzip ever adds to data that it cannot shrink.
uint64_t MostCompressedBytes(uint64_t limit) {
  const auto most = CheckedAdd(limit, limit / 256 + (64 << 10));
  return most.value_or(~uint64_t{0});
}

}  // namespace

void HeadExchange::Restart() {
  refused_ = false;
  info_.reset();
}

std::optional<Failure> HeadExchange::CheckHeader(const ResponseHeader& header) {
  if (header.status() == 405 || header.status() == 501) {
    refused_ = true;
    return std::nullopt;
  }
  if (header.status() != 200) {
    return StatusFailure(name(), header.status(), forbidden_is_missing_);
  }
  const auto size = header.content_length();
  if (size && !header.is_encoded())
    info_ = ObjectInfo{*size, header.MakeGeneration(size)};
  return std::nullopt;
}

void FirstByteExchange::Restart() {
  received_ = 0;
  info_.reset();
}

std::optional<Failure> FirstByteExchange::CheckHeader(const ResponseHeader& header) {
  std::optional<uint64_t> size;
  const auto content_range = header.content_range();
  if (header.status() == 206) {
    if (content_range) size = content_range->total;
  } else if (header.status() == 416) {  // An empty object has no byte 0.
    if (content_range) size = content_range->total;
    SkipBody();
  } else if (header.status() == 200) {
    size = header.content_length();
    SkipBody();
  } else {
    return StatusFailure(name(), header.status(), forbidden_is_missing_);
  }
  if (size && !header.is_encoded())
    info_ = ObjectInfo{*size, header.MakeGeneration(size)};
  return std::nullopt;
}

std::optional<Failure> FirstByteExchange::TakeBody(BytesView bytes) {
  received_ += bytes.size();
  if (received_ <= 1) return std::nullopt;
  return Failure{
      IoError(fmt::format("{}: asked for bytes [0, 1), but the body is longer", name()))};
}

Error RangeExchange::PastEnd(std::optional<uint64_t> total) const {
  if (!total) {
    return Corrupt(fmt::format("{}: bytes {} end past the object (of unknown size)",
                               name(), ToString(asked())));
  }
  if (const ReadSlice* past = FindSlicePastEnd(state_.slices, *total)) {
    return PastEndError(name(), past->offset, past->into.size(), *total);
  }
  return IoError(fmt::format("{}: the server refuses bytes {} of an object of {} bytes",
                             name(), ToString(asked()), *total));
}

std::optional<Failure> RangeExchange::CheckHeader(const ResponseHeader& header) {
  const ByteRange range = asked();
  const auto content_range = header.content_range();
  if (header.status() == 416) {
    return Failure{PastEnd(content_range ? content_range->total : std::nullopt)};
  }
  if (header.status() == 200) {
    return Failure{
        Unsupported(fmt::format("{}: the server ignores Range (200 instead of 206 to "
                                "bytes {}); use a server that "
                                "answers range requests, or a local copy",
                                name(), ToString(range)))};
  }
  if (header.status() != 206) {
    return StatusFailure(name(), header.status(), forbidden_is_missing_);
  }
  if (header.is_encoded()) {
    return Failure{
        Unsupported(fmt::format("{}: the server answers bytes {} with Content-Encoding "
                                "{}, where only identity makes "
                                "sense; store or serve the object without it",
                                name(), ToString(range), header.content_encoding()))};
  }
  if (!content_range || content_range->range != range) {
    // The part that exists, where less exists than was asked for.
    if (content_range && content_range->range &&
        content_range->range->offset == range.offset) {
      const uint64_t end = content_range->range->end();
      if (end < range.end() && content_range->total.value_or(end) == end) {
        return Failure{PastEnd(end)};
      }
    }
    return Failure{IoError(fmt::format(
        "{}: asked for bytes {}, that is \"bytes={}-{}\", but Content-Range is \"{}\"",
        name(), ToString(range), range.offset, range.end() - 1,
        header.content_range_text().value_or("")))};
  }

  Generation generation = header.MakeGeneration(content_range->total);
  if (state_.generation && *state_.generation != generation) {
    state_.changed = true;
    return Failure{ChangedError(name())};
  }
  state_.generation = std::move(generation);
  if (content_range->total) {
    state_.total = content_range->total;
    // Empty slices are not asked for, but must lie within the object all the same.
    if (FindSlicePastEnd(state_.slices, *state_.total) != nullptr) {
      return Failure{PastEnd(state_.total)};
    }
  }
  return std::nullopt;
}

MutableBytes RangeExchange::Target() {
  if (wanted_.size() == 1) return wanted_.front()->into;
  scratch_.resize(static_cast<size_t>(asked().length));
  return scratch_;
}

std::optional<Failure> RangeExchange::TakeBody(BytesView bytes) {
  if (bytes.size() > asked().length - received_) {
    return Failure{IoError(fmt::format("{}: asked for bytes {}, but the body is longer",
                                       name(), ToString(asked())))};
  }
  const MutableBytes target = Target();
  std::memcpy(target.data() + received_, bytes.data(), bytes.size());
  received_ += bytes.size();
  return std::nullopt;
}

std::optional<Failure> RangeExchange::CheckEnd() {
  if (received_ != asked().length) {
    return Failure{
        IoError(fmt::format("{}: the body of bytes {} ends after {} of {} bytes", name(),
                            ToString(asked()), received_, asked().length)),
        true};
  }
  if (wanted_.size() > 1) {
    for (const ReadSlice* slice : wanted_) {
      const std::byte* from = scratch_.data() + (slice->offset - asked().offset);
      std::memcpy(slice->into.data(), from, slice->into.size());
    }
    scratch_ = ByteVector();
  }
  return std::nullopt;
}

void SuffixExchange::Restart() {
  expected_ = 0;
  info_ = {};
  bytes_.clear();
}

std::optional<Failure> SuffixExchange::CheckHeader(const ResponseHeader& header) {
  const uint64_t asked = *request().suffix;
  const auto content_range = header.content_range();
  if (header.is_encoded()) {
    return Failure{Unsupported(fmt::format(
        "{}: the server answers a range with Content-Encoding {}, where only identity "
        "makes sense; store or serve the object without it",
        name(), header.content_encoding()))};
  }
  if (header.status() == 416) {  // An empty object has no last bytes.
    if (!content_range || content_range->total != 0) {
      return Failure{IoError(
          fmt::format("{}: the server refuses the last {} bytes", name(), asked))};
    }
    SkipBody();
    info_ = {0, header.MakeGeneration(0)};
    return std::nullopt;
  }
  if (header.status() == 200) {
    // All of an object that has no more than was asked for.
    const auto size = header.content_length();
    if (!size || *size > asked) {
      return Failure{Unsupported(
          fmt::format("{}: the server ignores Range (200 instead of 206 to the last {} "
                      "bytes); use a server that answers range requests, or a local copy",
                      name(), asked))};
    }
    expected_ = *size;
    info_ = {*size, header.MakeGeneration(size)};
    return std::nullopt;
  }
  if (header.status() != 206) {
    return StatusFailure(name(), header.status(), forbidden_is_missing_);
  }
  if (!content_range || !content_range->range || !content_range->total ||
      content_range->range->end() != *content_range->total ||
      content_range->range->length != std::min(asked, *content_range->total)) {
    return Failure{IoError(
        fmt::format("{}: asked for the last {} bytes, but Content-Range is \"{}\"",
                    name(), asked, header.content_range_text().value_or("")))};
  }
  expected_ = content_range->range->length;
  info_ = {*content_range->total, header.MakeGeneration(content_range->total)};
  bytes_.reserve(static_cast<size_t>(std::min(expected_, kMaxReserve)));
  return std::nullopt;
}

std::optional<Failure> SuffixExchange::TakeBody(BytesView segment) {
  if (segment.size() > expected_ - bytes_.size()) {
    return Failure{
        IoError(fmt::format("{}: asked for the last {} bytes, but the body is longer",
                            name(), *request().suffix))};
  }
  Append(bytes_, segment);
  return std::nullopt;
}

std::optional<Failure> SuffixExchange::CheckEnd() {
  if (bytes_.size() == expected_) return std::nullopt;
  return Failure{IoError(fmt::format("{}: the body ends after {} of {} bytes", name(),
                                     bytes_.size(), expected_)),
                 true};
}

void WholeExchange::Restart() {
  received_ = 0;
  announced_.reset();
  decoder_.reset();
  bytes_.clear();
  generation_ = Generation();
}

std::optional<Failure> WholeExchange::CheckHeader(const ResponseHeader& header) {
  if (header.status() != 200) {
    return StatusFailure(name(), header.status(), forbidden_is_missing_);
  }
  announced_ = header.content_length();
  generation_ = header.MakeGeneration(header.is_encoded() ? std::nullopt : announced_);
  if (header.is_encoded()) {
    decoder_ = NewStreamDecoder(header.content_encoding());
    if (!decoder_) {
      return Failure{Unsupported(fmt::format(
          "{}: Content-Encoding is {}, which was not asked for; understood are {}",
          name(), header.content_encoding(), kAcceptedEncodings))};
    }
  } else if (announced_) {
    if (*announced_ > limit_) return Failure{OverLimitError(name(), *announced_, limit_)};
    bytes_.reserve(static_cast<size_t>(std::min(*announced_, kMaxReserve)));
  }
  return std::nullopt;
}

std::optional<Failure> WholeExchange::TakeBody(BytesView segment) {
  received_ += segment.size();
  if (decoder_) {
    if (received_ > MostCompressedBytes(limit_)) {
      return Failure{
          Corrupt(fmt::format("{}: the {} body alone has more than the limit of {} bytes",
                              name(), decoder_->name(), limit_))};
    }
    auto decoded = decoder_->Write(segment, bytes_, limit_);
    if (!decoded) return Failure{std::move(decoded).error().Within(name())};
    return std::nullopt;
  }
  if (received_ > limit_) {
    return Failure{
        Corrupt(fmt::format("{}: more than the limit of {} bytes", name(), limit_))};
  }
  Append(bytes_, segment);
  return std::nullopt;
}

std::optional<Failure> WholeExchange::CheckEnd() {
  if (!decoder_ || decoder_->finished()) return std::nullopt;
  // A body of known length is all there is; one that ends with its connection may be cut.
  return Failure{Corrupt(fmt::format("{}: the {} body ends early, after {} bytes", name(),
                                     decoder_->name(), received_)),
                 !announced_};
}

void ThroughExchange::Restart() {
  received_ = 0;
  announced_.reset();
  info_ = {};
}

std::optional<Failure> ThroughExchange::CheckHeader(const ResponseHeader& header) {
  if (header.status() != 200) {
    return StatusFailure(name(), header.status(), forbidden_is_missing_);
  }
  if (header.is_encoded()) {
    return Failure{Unsupported(
        fmt::format("{}: Content-Encoding is {}, which was not asked for; store or serve "
                    "the object without it",
                    name(), header.content_encoding()))};
  }
  announced_ = header.content_length();
  info_ = {announced_.value_or(0), header.MakeGeneration(announced_)};
  auto begun = download_.begin(info_);
  if (!begun) return Failure{std::move(begun).error()};
  return std::nullopt;
}

std::optional<Failure> ThroughExchange::TakeBody(BytesView segment) {
  if (announced_ && segment.size() > *announced_ - received_) {
    return Failure{IoError(
        fmt::format("{}: the body is longer than its {} bytes", name(), *announced_))};
  }
  auto taken = download_.take(received_, segment);
  if (!taken) return Failure{std::move(taken).error()};
  received_ += segment.size();
  return std::nullopt;
}

std::optional<Failure> ThroughExchange::CheckEnd() {
  if (announced_ && received_ != *announced_) {
    return Failure{IoError(fmt::format("{}: the body ends after {} of {} bytes", name(),
                                       received_, *announced_)),
                   true};
  }
  info_.size = received_;
  return std::nullopt;
}

}  // namespace dolium
