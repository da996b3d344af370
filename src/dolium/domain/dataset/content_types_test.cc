#include "dolium/domain/dataset/content_types.h"

#include <string>

#include <gtest/gtest.h>

namespace dolium::dataset {
namespace {

TEST(ContentTypes, ComeFromTheLastExtensionWhateverItsCase) {
  EXPECT_EQ(ContentTypeOfName("a/b/left.JPG"), "image/jpeg");
  EXPECT_EQ(ContentTypeOfName("seg.v2.png"), "image/png");
  EXPECT_EQ(ContentTypeOfName("a.json.gz"), "application/gzip");
  EXPECT_EQ(ContentTypeOfName("x.npy"), "application/x-npy");
  EXPECT_EQ(ContentTypeOfName("x.msgpack"), "application/msgpack");
}

TEST(ContentTypes, ComeFromTheWholeNameIfItHasNoDot) {
  EXPECT_EQ(ContentTypeOfName("jpg"), "image/jpeg");
  EXPECT_EQ(ContentTypeOfName("cls"), "text/plain");
  EXPECT_EQ(ContentTypeOfName("dir.png/json"), "application/json");
}

TEST(ContentTypes, AreEmptyForNamesThatSayNothing) {
  EXPECT_EQ(ContentTypeOfName(""), "");
  EXPECT_EQ(ContentTypeOfName("README"), "");
  EXPECT_EQ(ContentTypeOfName("a."), "");
  EXPECT_EQ(ContentTypeOfName("x." + std::string(1000, 'a')), "");
}

TEST(ContentTypes, ComeFromTheFirstBytesIfTheNameSaysNothing) {
  EXPECT_EQ(GuessContentType("image/encoded", AsBytes("\xff\xd8\xff\xe0 more")),
            "image/jpeg");
  EXPECT_EQ(GuessContentType("data", AsBytes("RIFF1234WEBPVP8 ")), "image/webp");
  EXPECT_EQ(GuessContentType("a.txt", AsBytes("\xff\xd8\xff")), "text/plain");
  EXPECT_EQ(GuessContentType("data", AsBytes("\x93NUMPY")), "application/x-npy");
  EXPECT_EQ(GuessContentType("data", {}), "application/octet-stream");
  EXPECT_EQ(ContentTypeOfBytes(AsBytes("ft")), "");
}

TEST(ContentTypes, HaveAUsualExtension) {
  EXPECT_EQ(UsualExtension("image/jpeg"), "jpg");
  EXPECT_EQ(UsualExtension("text/plain; charset=utf-8"), "txt");
  EXPECT_EQ(UsualExtension("application/octet-stream"), "bin");
  EXPECT_EQ(UsualExtension("application/x-private"), "");
}

TEST(ContentTypes, SayWhatIsCompressedAlready) {
  for (const char* name :
       {"jpg", "png", "webp", "mp4", "mp3", "flac", "npz", "zip", "gz", "zst"}) {
    EXPECT_TRUE(IsAlreadyCompressed(ContentTypeOfName(name))) << name;
  }
  for (const char* name : {"json", "npy", "txt", "wav", "bmp", "tif", "bin"}) {
    EXPECT_FALSE(IsAlreadyCompressed(ContentTypeOfName(name))) << name;
  }
  EXPECT_TRUE(IsAlreadyCompressed("image/jpeg ; q=1"));
  EXPECT_FALSE(IsAlreadyCompressed(""));
}

}  // namespace
}  // namespace dolium::dataset
