// A TFRecord file of arbitrary bytes; and, without the checksums that a fuzzer does not
// get right, an Example of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "dolium/domain/dataset/imports/input_stream.h"
#include "dolium/domain/dataset/imports/tf_example.h"
#include "dolium/domain/dataset/imports/tfrecord.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dolium;
  using namespace dolium::dataset;
  const Bytes bytes = Bytes::Copy(std::as_bytes(std::span(data, size)));
  if (const auto example = ParseExample(bytes)) {
    // What was understood is understood again, with the same files.
    const auto again =
        ParseExample(Bytes::FromVector(MakeExample(example->files, example->key)));
    if (!again || again->files.size() != example->files.size()) std::abort();
    if (again->key != example->key) std::abort();
    // Several values of one feature come back as features, ordered by their names.
    if (again->files.size() == 1 &&
        !Equal(again->files.front().data, example->files.front().data)) {
      std::abort();
    }
  }
  auto stream = InputStream::Open(bytes, "x");
  if (!stream) return 0;
  const auto source = ReadTfRecords(*std::move(stream), {.max_file_bytes = 1 << 20});
  while (true) {
    const auto sample = source->Next();
    if (!sample || !*sample) return 0;
  }
}
