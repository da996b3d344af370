// SampleSource and SampleSink: samples one after another, in and out of other formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/progress.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

// Samples in the source's order. One thread at a time. Holds one sample (and what its
// format forces it to read around it) at a time, never the whole source.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // The next one; nullopt after the last. After an error, nothing more may be asked for,
  // unless can_go_on().
  virtual Result<std::optional<shardpack::Sample>> Next() = 0;

  // Whether the last error of Next() was about one sample (or one archive or shard of
  // them), and the next call gives what comes behind it.
  virtual bool can_go_on() const { return false; }

  // What was left out before the sample of that number; each finding is returned once:
  // errors for what is damaged (ImportOptions::skip_damaged), warnings for what can be
  // part of no sample. May be called while another thread reads.
  virtual std::vector<Finding> TakeLeftOut(uint64_t /*before*/) { return {}; }

  // Passes the next `count` samples, or those that there are. By default it reads them.
  virtual Result<void> Skip(uint64_t count) {
    for (; count > 0; --count) {
      DOLIUM_TRY(const auto sample, Next());
      if (!sample) break;
    }
    return {};
  }

  // Binds it to the files that it reads, as they are now: looks at each once, and returns
  // a text that is another one if a name or a state of one is. From then on, one that is
  // in another state when it is read is kConflict. To be called before all else.
  virtual Result<std::string> Bind() { return std::string(); }

  // What was chosen where it was left open (Grouping::kAuto); nullopt where nothing was.
  virtual std::optional<GroupingChoice> grouping_choice() const { return std::nullopt; }

  // How far it is: entries are samples, bytes those read of the source.
  virtual Progress progress() const = 0;
};

// Takes samples and writes them in another format. What it makes appears whole in Finish
// or not at all, file by file. One thread at a time.
class SampleSink {
 public:
  virtual ~SampleSink() = default;

  virtual Result<void> Put(const shardpack::Sample& sample) = 0;
  virtual Result<void> Finish() = 0;

  // What comes back of a sample besides its key and its files' names and bytes, when what
  // it writes is imported. The rest is for whoever puts samples to report.
  struct Keeps {
    bool metadata = false;       // of samples
    bool file_metadata = false;  // of files
    bool content_types = true;   // or what it has in their place; else as names say
  };
  virtual Keeps keeps() const { return {}; }

  // Whether the type and shape of such an array come back from what it writes. Files with
  // others are to be put as .npy (AsNpy).
  virtual bool KeepsArray(const shardpack::ArrayShape& /*array*/) const { return false; }
};

}  // namespace dolium::dataset
