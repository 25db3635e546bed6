#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/strings.h"
#include "push/push_fakes.h"
#include "push/stream/object_subscriptions.h"
#include "push/stream/pusher.h"

// Streams that ask for too much.
namespace fairlead::push {
namespace {

using testing::HasSubstr;
using xds::TypeId;

TEST(Limits, AStreamThatGoesOverThemEndsAndTheOthersGoOn) {
  FakeMesh mesh;
  mesh.Put(TypeId::kEndpoint, "a", "1");
  PusherOptions options = MakeFakeOptions();
  options.limits.names = 2;
  OwnedPusher pusher(new Pusher(std::move(options), MakeFakeGenerators(&mesh)));
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto good = std::make_shared<FakeProxy>(), first = std::make_shared<FakeProxy>(),
       second = std::make_shared<FakeProxy>();
  for (const auto& proxy : {good, first, second}) proxy->Connect(pusher.get());
  good->Ask(TypeId::kEndpoint, {"a", "b"});
  good->Await(0);

  first->Ask(TypeId::kEndpoint, {"a", "b", "c"});
  ASSERT_TRUE(first->AwaitClosed()) << "with its first request";
  second->Ask(TypeId::kEndpoint, {"a"});
  second->Await(0);
  second->Ask(TypeId::kRoute, {"a", "b", "c"}, "");
  ASSERT_TRUE(second->AwaitClosed()) << "or a later one";
  for (const auto& [proxy, type] : {std::pair(first, TypeId::kEndpoint), std::pair(second, TypeId::kRoute)}) {
    EXPECT_TRUE(absl::IsResourceExhausted(proxy->status())) << proxy->status();
    EXPECT_THAT(std::string(proxy->status().message()),
                HasSubstr(StrCat(xds::InfoOf(type).url, ": 3 names, of at most 2")));
    proxy->HangUp();
  }

  mesh.Put(TypeId::kEndpoint, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  EXPECT_EQ(good->Await(1).resources_size(), 1);
  good->HangUp();
}

TEST(Limits, TypesOfObjectsAreCounted) {
  const ObjectTypes types;
  ObjectSubscriptions objects(xds::Framing::kDelta, "n", &types, {});
  xds::DecodedRequest request;
  for (int i = 0; i < 500; ++i) {
    const std::string url = StrCat("group/v1/Kind", i);
    request.type_url = url;
    EXPECT_EQ(objects.OnRequest(request).second.kind, xds::RequestVerdict::kSubscribe) << url;
  }
  request.type_url = "group/v1/One";
  const auto [type, verdict] = objects.OnRequest(request);
  EXPECT_EQ(type, nullptr);
  EXPECT_EQ(verdict.kind, xds::RequestVerdict::kTooMuch);
}

}  // namespace
}  // namespace fairlead::push
