#include "debug/access.h"

#include <gtest/gtest.h>

#include "base/own_addresses.h"

namespace fairlead::debug {
namespace {

constexpr char kRoot[] = "istio-system";
const model::PeerIdentity kOperator{"cluster.local", "istio-system", "operator"};
const model::PeerIdentity kShop{"cluster.local", "shop", "web"};

TEST(DebugAccess, OnlyAddressesOfThisMachineAreLocal) {
  for (const char* address : {"ipv4:127.0.0.1:1234", "ipv6:%5B::1%5D:1", "unix:/run/x", "::1", "127.0.0.1",
                              "ipv6:[::ffff:127.0.0.1]:1"})
    EXPECT_TRUE(IsLocal(address)) << address;
  for (const char* address :
       {"ipv4:10.0.0.1:127", "ipv6:%5B2001:db8::1%5D:1", "ipv6:%5B::1:1%5D:1", "::12", "0.0.0.0", ""})
    EXPECT_FALSE(IsLocal(address)) << address;
}

TEST(DebugAccess, ThisMachinesOtherAddressesAreLocalToo) {
  for (const std::string& own : OwnAddresses()) {
    const bool v6 = own.find(':') != std::string::npos;
    EXPECT_TRUE(IsLocal(own)) << own;
    EXPECT_TRUE(IsLocal(v6 ? "ipv6:%5B" + own + "%5D:1234" : "ipv4:" + own + ":1234")) << own;
    if (v6 || own.starts_with("127.")) continue;
    EXPECT_FALSE(IsLocal(own + "1:80")) << own;
  }
}

TEST(DebugAccess, WhoProvesNothingFromElsewhereSeesNothing) {
  EXPECT_EQ(MayInspect("ipv4:10.0.0.1:1", {}, kRoot).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(MayReadObjects("ipv4:10.0.0.1:1", {}, kRoot).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(*MayInspect("ipv4:127.0.0.1:1", {}, kRoot), "");
}

TEST(DebugAccess, WorkloadsSeeTheirOwnNamespaceAndThoseOfTheRootAll) {
  EXPECT_EQ(*MayInspect("ipv4:10.0.0.1:1", kShop, kRoot), "shop");
  EXPECT_EQ(*MayInspect("ipv4:10.0.0.1:1", kOperator, kRoot), "");
  EXPECT_EQ(MayReadObjects("ipv4:10.0.0.1:1", kShop, kRoot).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(MayReadObjects("ipv4:10.0.0.1:1", kOperator, kRoot).ok());
}

}  // namespace
}  // namespace fairlead::debug
