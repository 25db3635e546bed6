#include "xds/referred_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace fairlead::xds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReferredNamesTest, AreSortedAndUnique) {
  std::vector<cache::ResourcePtr> clusters;
  for (const char* name : {"b", "a", "b"}) {
    auto cluster = std::make_shared<cache::Resource>();
    cluster->references = {{TypeId::kEndpoint, name}, {TypeId::kSecret, "s"}};
    clusters.push_back(std::move(cluster));
  }
  EXPECT_THAT(ReferredNames(clusters, TypeId::kEndpoint), ElementsAre("a", "b"));
  EXPECT_THAT(ReferredNames(clusters, TypeId::kRoute), IsEmpty());
}

}  // namespace
}  // namespace fairlead::xds
