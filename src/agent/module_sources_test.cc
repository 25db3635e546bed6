#include "agent/module_sources.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace fairlead::agent {
namespace {

bool Blocked(const ModuleSources& sources, const char* host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  EXPECT_EQ(inet_pton(AF_INET, host, &address.sin_addr), 1) << host;
  return !BlockedSources(sources).Blocks(reinterpret_cast<const sockaddr&>(address)).empty();
}

TEST(ModuleSources, EnvoysOwnPortsAreNoneHere) {
  const ModuleSources sources{{}, {15000, 15090}, {""}};
  EXPECT_TRUE(Blocked(sources, "127.0.0.1", 15000));
  EXPECT_TRUE(Blocked(sources, "127.9.9.9", 15090));
  EXPECT_TRUE(Blocked(sources, "0.0.0.0", 15000));
  EXPECT_FALSE(Blocked(sources, "127.0.0.1", 8000)) << "a server beside";
  EXPECT_FALSE(Blocked(sources, "192.0.2.1", 15000)) << "another machine's";
}

TEST(ModuleSources, TheControlPlaneIsNone) {
  const ModuleSources sources{{}, {}, {"localhost:26012", "192.0.2.7"}};
  for (const int port : {26012, 15010, 15012, 8080, 15014})
    EXPECT_TRUE(Blocked(sources, "127.0.0.1", port)) << port;
  EXPECT_TRUE(Blocked(sources, "192.0.2.7", 8080));
  EXPECT_FALSE(Blocked(sources, "127.0.0.1", 8000)) << "a server beside it";
  EXPECT_FALSE(Blocked(sources, "192.0.2.8", 8080));
}

TEST(ModuleSources, TheOperatorsRangesAreNone) {
  const ModuleSources sources{{*IpPrefix::Parse("10.0.0.0/8")}, {}, {}};
  EXPECT_TRUE(Blocked(sources, "10.1.2.3", 80));
  EXPECT_TRUE(Blocked(sources, "169.254.169.254", 80));
  EXPECT_FALSE(Blocked(sources, "11.1.2.3", 80));
}

}  // namespace
}  // namespace fairlead::agent
