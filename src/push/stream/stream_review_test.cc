#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "model/secret_readers.h"
#include "push/push_fakes.h"

namespace fairlead::push {
namespace {

using model::SecretAccess;
using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using xds::TypeId;

const model::ClusterAccount& Account() {
  static const auto* account = new model::ClusterAccount{Interned(), Interned("shop/front")};
  return *account;
}

class NobodyAsked : public model::SecretReviewer {
  void Want(const model::ClusterAccount& /*account*/) const override {}
};

// Secrets of an account that an API server has to vouch for, and one that everybody may have.
class ReviewedSecrets : public FakeGenerator {
 public:
  explicit ReviewedSecrets(FakeMesh* mesh) : FakeGenerator(mesh, TypeId::kSecret) {}
  gen::Resources Generate(mesh::View& view, const gen::Names* names, size_t part) override {
    gen::Resources all = FakeGenerator::Generate(view, names, part);
    if (view.SecretAccess(Account()) != SecretAccess::kAllowed)
      std::erase_if(all, [](const auto& secret) { return secret->name != "public"; });
    return all;
  }
};

class StreamReviewTest : public FakeMeshTest {
 protected:
  StreamReviewTest() {
    mesh.Put(TypeId::kSecret, "own", "1");
    mesh.Put(TypeId::kSecret, "public", "1");
  }
  ~StreamReviewTest() override {
    if (proxy_ != nullptr) proxy_->HangUp();
  }
  // A proxy that has asked for secrets and then for clusters.
  void Start(Clock::duration time_to_review) {
    PusherOptions options = MakeFakeOptions();
    options.time_to_review = time_to_review;
    Generators generators = MakeFakeGenerators(&mesh);
    generators[static_cast<size_t>(TypeId::kSecret)] = std::make_unique<ReviewedSecrets>(&mesh);
    pusher_ = OwnedPusher(new Pusher(std::move(options), std::move(generators)));
    Publish(SecretAccess::kUnknown);
    proxy_ = Connect(pusher_.get());
    proxy_->Ask(TypeId::kSecret, {"own", "public"});
    proxy_->Ask(TypeId::kCluster);
  }
  void Publish(SecretAccess access) {
    auto snapshot = std::make_shared<mesh::MeshSnapshot>();
    snapshot->settings = std::make_shared<model::Settings>();
    auto readers = std::make_shared<model::SecretReaders>();
    readers->reviewer = reviewer_;
    if (access != SecretAccess::kUnknown) readers->verdicts.emplace(Account(), access);
    snapshot->secret_readers = std::move(readers);
    pusher_->Publish(std::move(snapshot), BecauseOf(Reason::kSecret));
  }
  static std::string TypeOf(const envoy::service::discovery::v3::DiscoveryResponse& response) {
    return response.type_url().substr(response.type_url().rfind('.') + 1);
  }

  const model::SecretReviewerPtr reviewer_ = std::make_shared<const NobodyAsked>();
  OwnedPusher pusher_;
  std::shared_ptr<FakeProxy> proxy_;
};

TEST_F(StreamReviewTest, SecretsWaitForTheVerdictAndOtherTypesDoNot) {
  Start(std::chrono::minutes(1));
  EXPECT_EQ(TypeOf(proxy_->Await(0)), "Cluster");
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_EQ(proxy_->Responses(), 1u);
  Publish(SecretAccess::kUnknown);
  mesh.Put(TypeId::kCluster, "a", "2");
  Publish(SecretAccess::kUnknown);
  EXPECT_THAT(Values(proxy_->Await(1)), ElementsAre("a=2"));
  Publish(SecretAccess::kAllowed);
  EXPECT_THAT(Values(proxy_->Await(2)), ElementsAre("own=1", "public=1")) << "and nothing before";
}

TEST_F(StreamReviewTest, ARefusalIsAnAnswer) {
  Start(std::chrono::minutes(1));
  EXPECT_EQ(TypeOf(proxy_->Await(0)), "Cluster");
  Publish(SecretAccess::kDenied);
  const auto answer = proxy_->Await(1);
  EXPECT_EQ(TypeOf(answer), "Secret");
  EXPECT_THAT(Values(answer), ElementsAre("public=1"));
}

TEST_F(StreamReviewTest, WithoutAVerdictTheyAreAnsweredInTime) {
  Start(milliseconds(500));
  const auto begun = Clock::now();
  EXPECT_EQ(TypeOf(proxy_->Await(0)), "Cluster");
  const auto answer = proxy_->Await(1);
  EXPECT_EQ(TypeOf(answer), "Secret");
  EXPECT_THAT(Values(answer), ElementsAre("public=1"));
  EXPECT_GE(Clock::now() - begun, milliseconds(400));
  Publish(SecretAccess::kAllowed);
  EXPECT_THAT(Values(proxy_->Await(2)), Contains("own=1"));
}

}  // namespace
}  // namespace fairlead::push
