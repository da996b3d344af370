#include "dolium/domain/dataset/imports/npy_file.h"

#include <fmt/format.h>

#include "dolium/base/npy.h"

namespace dolium::dataset {

Result<shardpack::File> AsNpy(const shardpack::File& file) {
  constexpr std::string_view kDtypeCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<>|=[]";
  const std::string& dtype = file.array->dtype;
  if (dtype.find_first_not_of(kDtypeCharacters) != std::string::npos) {
    return Unsupported(
        fmt::format("file \"{}\": an array of type \"{}\", which is none of "
                    "NumPy's",
                    file.name, dtype));
  }
  ByteVector npy;
  Append(npy, AsBytes(NpyHeaderFor(dtype, file.array->lengths, /*fortran_order=*/false)));
  Append(npy, file.data);
  shardpack::File out = file;
  out.content_type = "application/x-npy";
  out.data = Bytes::FromVector(std::move(npy));
  out.array.reset();
  return out;
}

}  // namespace dolium::dataset
