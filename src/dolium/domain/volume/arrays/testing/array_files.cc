#include "dolium/domain/volume/arrays/testing/array_files.h"

#include <tiffio.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace dolium::volume {
namespace {

using Handle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

void Check(bool worked) {
  if (!worked) throw std::runtime_error("libtiff cannot write a test file");
}

// A rectangle of one page's samples, padded with zeros to the right and below.
std::string Cut(const TiffPages& how, const std::string& page, int x, int y, int width,
                int height, int channel) {
  const int size = how.bits / 8;
  std::string out;
  for (int row = y; row < y + height; ++row) {
    for (int column = x; column < x + width; ++column) {
      for (int c = 0; c < how.channels; ++c) {
        if (channel >= 0 && c != channel) continue;
        if (row >= how.height || column >= how.width) {
          out.append(static_cast<size_t>(size), '\0');
          continue;
        }
        const int at = ((row * how.width + column) * how.channels + c) * size;
        out += page.substr(static_cast<size_t>(at), static_cast<size_t>(size));
      }
    }
  }
  return out;
}

void WritePage(TIFF* tiff, const TiffPages& how, const std::string& page) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, how.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, how.height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, how.channels);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, how.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, how.format);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, how.compression);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
               how.separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  if (how.palette) {
    std::vector<uint16_t> colours(size_t{1} << how.bits);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE);
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours.data(), colours.data(), colours.data());
  }
  if (!how.description.empty()) {
    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, how.description.c_str());
  }
  uint32_t strile = 0;
  const int rows = std::min(how.rows_per_strip, how.height);
  if (how.tile > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, how.tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, how.tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
  }
  for (int channel = how.separate ? 0 : -1; channel < (how.separate ? how.channels : 0);
       ++channel) {
    for (int y = 0; y < how.height; y += how.tile > 0 ? how.tile : rows) {
      if (how.tile == 0) {
        std::string strip =
            Cut(how, page, 0, y, how.width, std::min(rows, how.height - y), channel);
        Check(TIFFWriteEncodedStrip(tiff, strile++, strip.data(),
                                    static_cast<tmsize_t>(strip.size())) >= 0);
        continue;
      }
      for (int x = 0; x < how.width; x += how.tile) {
        std::string tile = Cut(how, page, x, y, how.tile, how.tile, channel);
        Check(TIFFWriteEncodedTile(tiff, strile++, tile.data(),
                                   static_cast<tmsize_t>(tile.size())) >= 0);
      }
    }
  }
}

}  // namespace

Error ErrorOf(const ArraySourceRequest& request) {
  const auto source = OpenArraySource(request);
  if (!source) return source.error();
  ByteVector bytes(*(*source)->shape().bytes());
  const auto read = (*source)->Read({{0, 0, 0}, (*source)->shape().size}, bytes);
  if (read) throw std::runtime_error(request.path + " was read");
  return read.error();
}

void WriteTiff(const std::string& path, const TiffPages& how,
               const std::vector<std::string>& pages) {
  const Handle tiff(TIFFOpen(path.c_str(), how.mode.c_str()), &TIFFClose);
  Check(tiff != nullptr);
  for (const std::string& page : pages) {
    WritePage(tiff.get(), how, page);
    Check(TIFFWriteDirectory(tiff.get()) != 0);
    if (!how.reduced_copies) continue;
    TiffPages small = how;
    small.width = small.height = 1;
    TIFFSetField(tiff.get(), TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    WritePage(tiff.get(), small, page);
    Check(TIFFWriteDirectory(tiff.get()) != 0);
  }
}

}  // namespace dolium::volume
