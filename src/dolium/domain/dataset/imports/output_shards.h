// OutputShards: one file, or numbered ones, written front to back and compressed on the
// way if asked for.
//
// Every file appears whole once it is done, or not at all. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/imports/options.h"

namespace dolium::dataset {

// The name of shard `number` of those that begin with `first`. Digits at the end of the
// first name's stem say where counting begins and how wide numbers are ("x-0005.tar",
// 2 -> "x-0007.tar"); without any, six digits are put there ("x.tar.gz", 2 ->
// "x-000002.tar.gz"). The stem ends at the base name's first dot.
Result<std::string> NumberedName(const std::string& first, uint64_t number);

class OutputShards {
 public:
  // kExists if the first file is there and may not be replaced. The files are numbered if
  // there is a limit.
  static Result<std::unique_ptr<OutputShards>> Create(const std::string& path,
                                                      const SampleExportOptions& options);
  ~OutputShards();

  // Where the next sample goes. If `bytes` more would be too many for the current file,
  // that is ended first: `tail` is appended to it, and it is made to appear.
  Result<void> BeginSample(uint64_t bytes, BytesView tail = {});

  Result<void> Append(BytesView bytes);

  // Ends the last file as BeginSample does. Without any sample there is an empty one,
  // with the tail.
  Result<void> Finish(BytesView tail = {});

 private:
  class Gzip;
  OutputShards(std::string path, const SampleExportOptions& options);

  Result<void> BeginFile();
  Result<void> EndFile(BytesView tail, bool is_last);

  const std::string path_;
  const SampleExportOptions options_;
  const bool numbered_;
  const bool gzip_wanted_;
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;    // of the current file, uncompressed
  uint64_t samples_ = 0;  // of the current file
  std::unique_ptr<ObjectWriter> writer_;
  std::unique_ptr<Gzip> gzip_;
};

// What `force` means for a commit.
Precondition MayReplace(bool force);

}  // namespace dolium::dataset
