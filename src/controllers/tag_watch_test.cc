#include "controllers/tag_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::controllers {
namespace {

using namespace std::chrono_literals;
using gateway_api::OwnRevisions;
using ::testing::ElementsAre;

constexpr char kMutating[] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
constexpr char kValidating[] = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
constexpr char kServices[] = "/api/v1/namespaces/istio-system/services";

RevisionTags::Tag Tag(const std::string& tag, const std::string& revision) { return {tag, revision}; }

TEST(OwnRevisionsTest, ARevisionWithoutTagsHasItsOwnLabel) {
  EXPECT_THAT(OwnRevisionsOf("canary", {}), ElementsAre("canary"));
  EXPECT_THAT(OwnRevisionsOf("default", {}), ElementsAre("", "default"));
}

TEST(OwnRevisionsTest, TagsOfWebhooksAndServicesPointToIt) {
  RevisionTags tags;
  tags.webhooks = {{"istio-revision-tag-prod", Tag("prod", "canary")}, {"x", Tag("test", "other")}};
  tags.services = {{"istiod-revision-tag-stable", Tag("stable", "canary")}};
  EXPECT_THAT(OwnRevisionsOf("canary", tags), ElementsAre("canary", "prod", "stable"));
  EXPECT_THAT(OwnRevisionsOf("other", tags), ElementsAre("other", "test"));
}

TEST(OwnRevisionsTest, ObjectsWithoutALabelAreThoseOfTheDefaultTag) {
  RevisionTags tags;
  tags.webhooks = {{"istio-revision-tag-default", Tag("default", "canary")}};
  EXPECT_THAT(OwnRevisionsOf("canary", tags), ElementsAre("", "canary", "default"));
  EXPECT_THAT(OwnRevisionsOf("other", tags), ElementsAre("other"));
}

TEST(OwnRevisionsTest, WithoutADefaultTagTheDefaultRevisionTakesThem) {
  RevisionTags tags;
  tags.validators = {{"istiod-default-validator", Tag("", "canary")}};
  EXPECT_THAT(OwnRevisionsOf("canary", tags), ElementsAre("", "canary"));
  EXPECT_THAT(OwnRevisionsOf("other", tags), ElementsAre("other"));
  tags.webhooks = {{"istio-revision-tag-default", Tag("default", "other")}};
  EXPECT_THAT(OwnRevisionsOf("canary", tags), ElementsAre("canary")) << "the tag goes before";
  EXPECT_THAT(OwnRevisionsOf("other", tags), ElementsAre("", "default", "other"));
}

class TagWatchTest : public ::testing::Test {
 protected:
  TagWatchTest() {
    server_.Serve(kMutating);
    server_.Serve(kValidating);
    server_.Serve(kServices);
    options_.revision = "canary";
    options_.ns = "istio-system";
    options_.loop.watches.first_backoff = 20ms;
    options_.loop.watches.most_backoff = 100ms;
    options_.changed = [this](OwnRevisions own) {
      std::lock_guard lock(mutex_);
      own_ = std::move(own);
      ++told_;
    };
  }
  void Start() {
    kube::ServerAccess access;
    access.server = server_.url();
    access.proxy = "";
    watch_ = std::make_unique<TagWatch>(options_, access, &client_);
    watch_->Start();
  }
  void Put(const char* path, const std::string& name, const std::string& tag, const std::string& revision) {
    server_.Put(path, "", name, "",
                StrCat(R"("labels":{"istio.io/tag":")", tag, R"(","istio.io/rev":")", revision, R"("})"));
  }
  bool WaitFor(const OwnRevisions& own) {
    return Eventually([&] {
      std::lock_guard lock(mutex_);
      return own_ == own;
    });
  }

  source::ApiServerFake server_;
  fetch::Client client_;
  TagWatch::Options options_;
  std::mutex mutex_;
  OwnRevisions own_;
  int told_ = 0;
  std::unique_ptr<TagWatch> watch_;
};

TEST_F(TagWatchTest, ATagMovesFromOneRevisionToAnother) {
  Put(kMutating, "istio-revision-tag-prod", "prod", "old");
  Start();
  EXPECT_TRUE(WaitFor({"canary"}));
  Put(kMutating, "istio-revision-tag-prod", "prod", "canary");
  EXPECT_TRUE(WaitFor({"canary", "prod"}));
  Put(kMutating, "istio-revision-tag-default", "default", "canary");
  EXPECT_TRUE(WaitFor({"", "canary", "default", "prod"}));
  server_.Delete(kMutating, "", "istio-revision-tag-prod");
  EXPECT_TRUE(WaitFor({"", "canary", "default"}));
  Put(kMutating, "istio-revision-tag-default", "default", "old");
  EXPECT_TRUE(WaitFor({"canary"}));
  EXPECT_EQ(told_, 5) << "only what differs is told";
}

TEST_F(TagWatchTest, WhatVanishedBetweenTwoListsIsGone) {
  Put(kServices, "istiod-revision-tag-prod", "prod", "canary");
  Start();
  EXPECT_TRUE(WaitFor({"canary", "prod"}));
  server_.Hang(true);
  server_.Delete(kServices, "", "istiod-revision-tag-prod");
  server_.Compact();
  server_.Hang(false);
  server_.CutWatches();
  EXPECT_TRUE(WaitFor({"canary"}));
}

TEST_F(TagWatchTest, WhatMayNotBeReadSaysNothing) {
  server_.Refuse(kValidating, 403);
  Put(kMutating, "istio-revision-tag-prod", "prod", "canary");
  Start();
  EXPECT_TRUE(WaitFor({"canary", "prod"})) << "the others count";
}

}  // namespace
}  // namespace fairlead::controllers
