#include "agent/way_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::agent {
namespace {

using testing::HasSubstr;

TEST(WithWayOut, SaysWhatCanBeDone) {
  EXPECT_THAT(
      WithWayOut("x: certificate verify failed: hostname mismatch: the certificate is for istiod.x.svc"),
      HasSubstr("istiod.x.svc; ISTIOD_SAN says which"));
  EXPECT_THAT(WithWayOut("TLS handshake: wrong version number"), HasSubstr("; this port speaks no TLS"));
  EXPECT_THAT(WithWayOut("request authenticate failure"), HasSubstr("`fairlead token`"));
  EXPECT_EQ(WithWayOut("something else"), "something else");
}

}  // namespace
}  // namespace fairlead::agent
