// The questions that HttpStore asks, and what makes their answers good.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dolium/bytes/http_exchange.h"
#include "dolium/bytes/store.h"
#include "dolium/bytes/stream_decoder.h"

namespace dolium {

// HEAD: size and generation.
class HeadExchange final : public Exchange {
 public:
  HeadExchange(std::string name, HttpRequest request, bool forbidden_is_missing)
      : Exchange(std::move(name), std::move(request)),
        forbidden_is_missing_(forbidden_is_missing) {}

  // The server does not do HEAD.
  bool refused() const { return refused_; }
  // nullopt if the server did not report the size.
  const std::optional<ObjectInfo>& info() const { return info_; }

 private:
  void Restart() override;
  std::optional<Failure> CheckHeader(const ResponseHeader& header) override;
  std::optional<Failure> TakeBody(BytesView) override { return std::nullopt; }
  std::optional<Failure> CheckEnd() override { return std::nullopt; }

  const bool forbidden_is_missing_;
  bool refused_ = false;
  std::optional<ObjectInfo> info_;
};

// GET of byte 0, for the size that comes with it.
class FirstByteExchange final : public Exchange {
 public:
  FirstByteExchange(std::string name, HttpRequest request, bool forbidden_is_missing)
      : Exchange(std::move(name), std::move(request)),
        forbidden_is_missing_(forbidden_is_missing) {}

  // nullopt if the server did not report the size.
  const std::optional<ObjectInfo>& info() const { return info_; }

 private:
  void Restart() override;
  std::optional<Failure> CheckHeader(const ResponseHeader& header) override;
  std::optional<Failure> TakeBody(BytesView bytes) override;
  std::optional<Failure> CheckEnd() override { return std::nullopt; }

  const bool forbidden_is_missing_;
  uint64_t received_ = 0;
  std::optional<ObjectInfo> info_;
};

// What the ranged GETs of one ReadInto have in common.
struct RangeReadState {
  std::span<const ReadSlice> slices;     // all of them, for messages
  std::optional<Generation> generation;  // the one that all answers must have
  std::optional<uint64_t> total;
  bool changed = false;  // an answer had another generation
};

// GET of one range, into one place or, through a buffer, into several. The places are
// within the range.
class RangeExchange final : public Exchange {
 public:
  RangeExchange(std::string name, HttpRequest request, bool forbidden_is_missing,
                std::vector<const ReadSlice*> wanted, RangeReadState& state)
      : Exchange(std::move(name), std::move(request)),
        forbidden_is_missing_(forbidden_is_missing),
        wanted_(std::move(wanted)),
        state_(state) {}

 private:
  void Restart() override { received_ = 0; }
  std::optional<Failure> CheckHeader(const ResponseHeader& header) override;
  std::optional<Failure> TakeBody(BytesView bytes) override;
  std::optional<Failure> CheckEnd() override;

  ByteRange asked() const { return *request().range; }
  // The answer has no such bytes; `total` is the object's size, if known.
  Error PastEnd(std::optional<uint64_t> total) const;
  MutableBytes Target();

  const bool forbidden_is_missing_;
  const std::vector<const ReadSlice*> wanted_;
  RangeReadState& state_;
  ByteVector scratch_;  // only with several slices, and only while reading
  uint64_t received_ = 0;
};

// GET of the last bytes, however many there are.
class SuffixExchange final : public Exchange {
 public:
  SuffixExchange(std::string name, HttpRequest request, bool forbidden_is_missing)
      : Exchange(std::move(name), std::move(request)),
        forbidden_is_missing_(forbidden_is_missing) {}

  Suffix Take() && { return {std::move(info_), Bytes::FromVector(std::move(bytes_))}; }

 private:
  void Restart() override;
  std::optional<Failure> CheckHeader(const ResponseHeader& header) override;
  std::optional<Failure> TakeBody(BytesView segment) override;
  std::optional<Failure> CheckEnd() override;

  const bool forbidden_is_missing_;
  uint64_t expected_ = 0;
  ObjectInfo info_;
  ByteVector bytes_;
};

// GET of the whole object, decoded.
class WholeExchange final : public Exchange {
 public:
  WholeExchange(std::string name, HttpRequest request, bool forbidden_is_missing,
                uint64_t limit)
      : Exchange(std::move(name), std::move(request)),
        forbidden_is_missing_(forbidden_is_missing),
        limit_(limit) {}

  WholeObject Take() && {
    return {Bytes::FromVector(std::move(bytes_)), std::move(generation_)};
  }

 private:
  void Restart() override;
  std::optional<Failure> CheckHeader(const ResponseHeader& header) override;
  std::optional<Failure> TakeBody(BytesView segment) override;
  std::optional<Failure> CheckEnd() override;

  const bool forbidden_is_missing_;
  const uint64_t limit_;
  uint64_t received_ = 0;
  std::optional<uint64_t> announced_;
  std::unique_ptr<StreamDecoder> decoder_;  // null: the body is the object
  ByteVector bytes_;
  Generation generation_;
};

// GET of the whole object as it is, handed on segment by segment.
class ThroughExchange final : public Exchange {
 public:
  // `download` must outlive it.
  ThroughExchange(std::string name, HttpRequest request, bool forbidden_is_missing,
                  const Store::Download& download)
      : Exchange(std::move(name), std::move(request)),
        forbidden_is_missing_(forbidden_is_missing),
        download_(download) {}

  const ObjectInfo& info() const { return info_; }

 private:
  void Restart() override;
  std::optional<Failure> CheckHeader(const ResponseHeader& header) override;
  std::optional<Failure> TakeBody(BytesView segment) override;
  std::optional<Failure> CheckEnd() override;

  const bool forbidden_is_missing_;
  const Store::Download& download_;
  uint64_t received_ = 0;
  std::optional<uint64_t> announced_;
  ObjectInfo info_;
};

}  // namespace dolium
