#include "gen/route/route_name.h"

#include <gtest/gtest.h>

namespace fairlead::gen::route {
namespace {

using Kind = RouteName::Kind;

TEST(ParseRouteName, KnowsEveryForm) {
  struct Case {
    const char* name;
    Kind kind;
    uint32_t port;
    const char* host;
  };
  for (const Case& c : {Case{"80", Kind::kPort, 80, ""}, Case{"http_proxy", Kind::kProxy, 0, ""},
                        Case{"unix:///var/run/x.sock", Kind::kProxy, 0, ""}, Case{"0", Kind::kProxy, 0, ""},
                        Case{"a.com:7000", Kind::kSniffed, 7000, "a.com"},
                        Case{"a.com:http", Kind::kUnknown, 0, ""}, Case{"backend", Kind::kUnknown, 0, ""},
                        Case{"", Kind::kUnknown, 0, ""}, Case{"http.8080", Kind::kUnknown, 0, ""}}) {
    const RouteName name = ParseRouteName(c.name);
    EXPECT_EQ(name.kind, c.kind) << c.name;
    EXPECT_EQ(name.port, c.port) << c.name;
    EXPECT_EQ(name.host, c.host) << c.name;
  }
}

}  // namespace
}  // namespace fairlead::gen::route
