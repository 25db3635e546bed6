#include "http2/output.h"

#include <gtest/gtest.h>

namespace fairlead::http2 {
namespace {

std::string Text(const std::vector<iovec>& pieces) {
  std::string out;
  for (const iovec& piece : pieces) out.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  return out;
}

TEST(Batch, CopiesWhatIsSmallAndRefersToTheRest) {
  const std::string body = "body";
  Batch batch;
  batch.Copy("he", 2);
  batch.Copy("ad", 2);
  batch.Refer(body);
  batch.Refer("");
  batch.Copy("tail", 4);
  EXPECT_EQ(Text(batch.pieces()), "headbodytail");
  ASSERT_EQ(batch.pieces().size(), 3u);
  EXPECT_EQ(batch.pieces()[1].iov_base, body.data());
  EXPECT_TRUE(batch.Owns(batch.pieces()[0]));
  EXPECT_FALSE(batch.Owns(batch.pieces()[1]));
  EXPECT_EQ(batch.size(), 12u);
  batch.Clear();
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(batch.room(), Batch::kScratch);
}

TEST(Unwritten, IsAPositionInWhatWasToBeWritten) {
  const std::string body(100, 'b');
  const std::string whole = "head" + body + "tail";
  for (size_t from = 0; from < whole.size(); from += 3) {
    for (size_t step : {1, 7, 200}) {
      Batch batch;
      batch.Copy("head", 4);
      batch.Refer(body);
      batch.Copy("tail", 4);
      Unwritten unwritten;
      unwritten.Keep(batch, from);
      batch.Clear();
      batch.Copy("????????", 8);  // the next connection's
      std::string out;
      while (!unwritten.empty()) {
        std::vector<iovec> pieces;
        unwritten.Pieces(2, &pieces);
        const std::string part = Text(pieces).substr(0, step);
        out += part;
        unwritten.Skip(part.size());
      }
      EXPECT_EQ(out, whole.substr(from));
    }
  }
}

}  // namespace
}  // namespace fairlead::http2
