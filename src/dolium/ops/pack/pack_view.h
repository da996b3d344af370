// view: a page of samples, with a little of what is in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/ops/pack/pack_sample.h"
#include "dolium/ops/pack/pack_select.h"

namespace dolium::dataset {

struct ViewedSample {
  SampleFacts facts;
  // JSON as it is, text as text; null if there is none; for other formats an object with
  // `format` and `size`.
  nlohmann::ordered_json metadata;
  // One for each file: the beginning of its text, cut between characters; empty if it is
  // no text, or too large to be decoded for this.
  std::vector<std::string> previews;
  std::string error;  // why some of it cannot be read; empty if all can
};

struct ViewPage {
  uint64_t total = 0;  // samples that the filter lets pass
  uint64_t begin = 0;  // of those, the first of this page
  std::vector<ViewedSample> samples;
};

struct ViewOptions {
  PackSelection filter = {};
  uint64_t begin = 0;
  uint64_t count = 20;
  size_t preview_bytes = 200;  // 0: none
};

// A sample that cannot be read is there, with its error. kInvalidArgument and kNotFound
// as SelectSamples has them.
Result<ViewPage> ViewSamples(const SampleSet& set, const ViewOptions& options);

nlohmann::ordered_json ToJson(const ViewedSample& sample);
nlohmann::ordered_json ToJson(const ViewPage& page);

}  // namespace dolium::dataset
