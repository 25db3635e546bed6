#include "tests/fuzz/stream_model.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

// The model of the protocol finds what a core does wrong: it is fed what a wrong one would send.
namespace fairlead::fuzz {
namespace {

using xds::Framing;
using xds::RequestVerdict;
using xds::TypeId;

class WrongCore : public testing::TestWithParam<Framing> {
 protected:
  // A client that has the cluster "a" and the listener "l".
  void SetUp() override {
    for (const auto& [type, name] : {std::pair(TypeId::kCluster, "a"), std::pair(TypeId::kListener, "l")}) {
      mesh_.Put(type, name, 0, {}, 0);
      model_.Know(mesh_.Of(type).at(name));
      Asked asked;
      asked.url = xds::InfoOf(type).url;
      model_.OnRequest(asked, {RequestVerdict::kSubscribe, type});
      Offer(type);
    }
  }

  // All that exists of the type is sent; in delta only what the client has not.
  void Offer(TypeId type, const std::set<std::string>& removed = {}) {
    Seen seen;
    seen.type = type;
    seen.nonce = "n" + std::to_string(++responses_);
    seen.version = "v" + std::to_string(responses_);
    for (const auto& [name, item] : mesh_.Of(type)) {
      if (removed.empty() || GetParam() == Framing::kStateOfTheWorld)
        seen.resources[name] = item.resource->hash;
    }
    if (GetParam() == Framing::kDelta) seen.removed = removed;
    model_.OnOffer(type, mesh_, &seen);
  }
  void OfferNothing(TypeId type) { model_.OnOffer(type, mesh_, nullptr); }

  StreamMesh mesh_;
  StreamModel model_{GetParam(), ~0u};
  int responses_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Both, WrongCore, testing::Values(Framing::kStateOfTheWorld, Framing::kDelta));

TEST_P(WrongCore, ThatRemovesClustersFirstIsFoundThoughNothingElseDiffers) {
  mesh_.Remove(TypeId::kCluster, "a");
  model_.OnChange();
  EXPECT_DEATH(Offer(TypeId::kCluster, {"a"}), "CDS lost some before it was LDS's turn");
}

TEST_P(WrongCore, ThatRemovesClustersBeforeWhatDiffersIsFound) {
  mesh_.Remove(TypeId::kCluster, "a");
  mesh_.Put(TypeId::kListener, "l", 1, {}, 0);
  model_.OnChange();
  EXPECT_DEATH(Offer(TypeId::kCluster, {"a"}), "CDS lost some before LDS");
}

TEST_P(WrongCore, ThatForgetsARemovalIsFound) {
  mesh_.Remove(TypeId::kCluster, "a");
  model_.OnChange();
  OfferNothing(TypeId::kCluster);
  OfferNothing(TypeId::kListener);
  EXPECT_DEATH(model_.CheckIdle(mesh_), "at rest, CDS lacks -a");
}

TEST_P(WrongCore, TheRightOnePasses) {
  mesh_.Remove(TypeId::kCluster, "a");
  model_.OnChange();
  OfferNothing(TypeId::kCluster);
  OfferNothing(TypeId::kListener);
  Offer(TypeId::kCluster, {"a"});
  model_.CheckIdle(mesh_);
}

}  // namespace
}  // namespace fairlead::fuzz
