#include "dolium/formats/builtin.h"

#include "dolium/formats/dvid/format.h"
#include "dolium/formats/files/format.h"
#include "dolium/formats/neuroglancer/format.h"
#include "dolium/formats/shardpack/format.h"
#include "dolium/formats/xet/format.h"

namespace dolium {

Formats BuiltinFormats() {
  static constexpr Format kFormats[] = {
      neuroglancer::kFormat, shardpack::kFormat, xet::kFormat,
      dvid::kFormat,         files::kFormat,
  };
  return kFormats;
}

}  // namespace dolium
