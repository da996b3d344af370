// Array files for tests: written by the libraries themselves or byte by byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/arrays/array_source.h"

namespace dolium::volume {

inline void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The bytes of `values`, as they lie in memory.
template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// first, first + 1, ...
template <typename T>
std::vector<T> Count(size_t count, T first = 0) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(first + static_cast<T>(i));
  return values;
}

// A NumPy file of version 1 with `dictionary` as its header.
inline std::string NpyFile(std::string_view dictionary, std::string_view numbers) {
  const std::string text = std::string(dictionary) + "\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(text.size() & 0xff);
  file += static_cast<char>(text.size() >> 8);
  return file + text + std::string(numbers);
}

// What a box of a source holds. Throws the source's error.
template <typename T>
std::vector<T> ReadBox(const ArraySource& source, const Box& box) {
  const Vec3 size = box.size();
  std::vector<T> values(
      static_cast<size_t>(size[0] * size[1] * size[2] * source.shape().channels));
  Must(source.Read(box, std::as_writable_bytes(std::span(values))));
  return values;
}

template <typename T>
std::vector<T> ReadAll(const ArraySource& source) {
  return ReadBox<T>(source, {{0, 0, 0}, source.shape().size});
}

// The error of opening, or of reading all; throws if there is none.
Error ErrorOf(const ArraySourceRequest& request);

// How to write a TIFF; see tiffio.h for the numbers.
struct TiffPages {
  std::string mode = "w";
  int width = 1;
  int height = 1;
  int channels = 1;
  int bits = 8;
  int format = 1;
  int compression = 1;
  int rows_per_strip = 1'000'000;
  int tile = 0;  // its side; 0: strips
  bool separate = false;
  std::string description = {};
  bool palette = false;         // numbers stand for colours
  bool reduced_copies = false;  // after each page, a smaller one that is marked so
};

// One page for each string of `pages`, which has its samples, interleaved.
void WriteTiff(const std::string& path, const TiffPages& how,
               const std::vector<std::string>& pages);

}  // namespace dolium::volume
