#include "debug/access.h"

#include <gtest/gtest.h>

namespace fairlead::debug {
namespace {

TEST(IsLocal, LoopbackAndSockets) {
  for (const char* address : {"127.0.0.1", "ipv4:127.0.0.1:1234", "::1", "ipv6:%5B::1%5D:1", "ipv6:[::1]:1",
                              "::ffff:127.0.0.1", "unix:/run/x"})
    EXPECT_TRUE(IsLocal(address)) << address;
  for (const char* address : {"", "192.0.2.1", "ipv4:192.0.2.1:1234", "2001:db8::1", "ipv6:[2001:db8::1]:1",
                              "10.127.0.1", "ipv4:10.127.0.1:1"})
    EXPECT_FALSE(IsLocal(address)) << address;
}

}  // namespace
}  // namespace fairlead::debug
