// TarReader: the regular files of a tar archive, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/imports/input_stream.h"
#include "dolium/domain/dataset/imports/left_out.h"
#include "dolium/domain/dataset/imports/tar_header.h"

namespace dolium::dataset {

// Reads POSIX (ustar, PAX), GNU and old archives. Directories, links, devices and global
// PAX headers are passed. One thread at a time.
class TarReader {
 public:
  // Files of more than `max_file_bytes` are an error.
  TarReader(std::unique_ptr<InputStream> stream, uint64_t max_file_bytes)
      : stream_(std::move(stream)), max_file_bytes_(max_file_bytes) {}

  // The header of the next regular file; nullopt at the end. kCorrupt if the archive ends
  // without its mark (it was cut short, or its writer was not done). What was left of the
  // file before is passed.
  Result<std::optional<TarHeader>> Next();

  // The bytes of the file that Next() returned; once.
  Result<Bytes> ReadContent();

  // What was passed so far: links, of both sorts; pipes, devices and what is not known.
  const PassedOver& links() const { return links_; }
  const PassedOver& specials() const { return specials_; }
  // Behind the mark of the end: where something begins that is not zeros.
  std::optional<uint64_t> behind_end() const { return behind_end_; }

  const InputStream& stream() const { return *stream_; }

 private:
  Result<void> Pass();
  Result<Bytes> ReadExtension(const TarHeader& header);
  Result<void> ReadTrailer();
  Error At(uint64_t position, const Error& error) const;

  const std::unique_ptr<InputStream> stream_;
  const uint64_t max_file_bytes_;
  std::string name_;
  uint64_t content_ = 0;  // bytes of the current file that were not read
  uint64_t padding_ = 0;  // after them
  bool done_ = false;
  PassedOver links_;
  PassedOver specials_;
  std::optional<uint64_t> behind_end_;
};

}  // namespace dolium::dataset
