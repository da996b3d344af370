// Images as arrays.
#include <list>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>

#include "dolium/domain/image/jpeg_image.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/pack_values.h"

namespace dolium::python {
namespace {

// Rows, columns and, if there is more than one, channels.
nb::object ArrayOf(image::JpegImage image) {
  auto* const kept = new image::JpegImage(std::move(image));
  const nb::capsule owner(
      kept, [](void* p) noexcept { delete static_cast<image::JpegImage*>(p); });
  const size_t shape[] = {kept->height, kept->width, kept->channels};
  const nb::ndarray<nb::numpy, uint8_t> array(kept->pixels.view().data(),
                                              kept->channels == 1 ? 2 : 3, shape, owner);
  return nb::cast(array);
}

nb::list DecodeJpegs(nb::handle contents, size_t jobs) {
  KeepMemoryOfBatches();
  std::list<BorrowedBytes> borrowed;  // they do not move
  std::vector<BytesView> stored;
  for (const nb::handle content : nb::iter(nb::borrow(contents))) {
    stored.push_back(borrowed.emplace_back(content).view());
  }
  auto images = [&] {
    const nb::gil_scoped_release release;
    return image::DecodeJpegImages(stored, jobs);
  }();
  nb::list arrays;
  for (auto& image : images) {
    arrays.append(image ? ArrayOf(*std::move(image)) : ErrorObject(image.error()));
  }
  return arrays;
}

}  // namespace

void BindImages(nb::module_& module) {
  module.def("decode_jpegs", &DecodeJpegs, nb::arg("contents"), nb::arg("jobs") = 0);
}

}  // namespace dolium::python
