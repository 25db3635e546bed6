#include "debug/pages.h"

#include <gmock/gmock.h>

#include <set>

namespace fairlead::debug {
namespace {

TEST(DebugPages, AWorkloadMayLookAndNotAct) {
  int pushed = 0;
  Sources sources;
  sources.push_all = [&] { ++pushed; };
  for (const char* page : {"adsz?push=true", "force_disconnect?proxyID=client"}) {
    const Page answer = MakePage(sources, page, "shop");
    EXPECT_EQ(answer.status, 403) << page;
    EXPECT_THAT(answer.body, testing::HasSubstr("is for operators"));
  }
  EXPECT_EQ(pushed, 0);
}

TEST(DebugPages, ThoseThatActSaySo) {
  std::set<std::string_view> acting;
  for (const PageInfo& page : Pages()) {
    if (page.acts != nullptr && page.acts({{"push", "true"}})) acting.insert(page.name);
    EXPECT_TRUE(page.name != "adsz" || !page.acts({})) << "to look is no act";
  }
  EXPECT_THAT(acting, testing::ElementsAre("adsz", "force_disconnect"));
}

}  // namespace
}  // namespace fairlead::debug
