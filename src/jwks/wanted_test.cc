#include "jwks/wanted.h"

#include <gmock/gmock.h>

#include "istio/security/v1beta1/request_authentication.pb.h"
#include "mesh/index/policy_index.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::jwks {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class WantedTest : public mesh::MeshFixture {
 protected:
  void PutRules(std::string_view ns, std::string_view name, const std::string& text) {
    using istio::security::v1beta1::RequestAuthentication;
    Put(config::Kind::kRequestAuthentication, ns, name, mesh::Parse<RequestAuthentication>(text));
  }
  Wanted Made() { return WantedKeySets(*Build()); }
};

TEST_F(WantedTest, RulesWithoutKeysOfTheirOwn) {
  PutRules("a", "r", R"(jwt_rules { issuer: "inline" jwks: "k" jwks_uri: "https://unused" }
                        jwt_rules { issuer: "https://i" })");
  PutRules("b", "r", "jwt_rules { issuer: 'x' jwks_uri: 'https://u' timeout { seconds: 2 } }");
  EXPECT_THAT(Made(), ElementsAre(Pair(model::KeySource{{}, "https://i"}, seconds(5)),
                                  Pair(model::KeySource{"https://u", {}}, seconds(2))));
  Remove(config::Kind::kRequestAuthentication, "a", "r");
  Remove(config::Kind::kRequestAuthentication, "b", "r");
  EXPECT_THAT(Made(), IsEmpty());
}

TEST_F(WantedTest, TheLongestTimeoutOfASourceWithinBounds) {
  PutRules("a", "r", R"(jwt_rules { issuer: "x" jwks_uri: "https://u" timeout { seconds: 2 } }
                        jwt_rules { issuer: "y" jwks_uri: "https://u" timeout { seconds: 9 } }
                        jwt_rules { issuer: "z" jwks_uri: "https://v" timeout { seconds: 3000 } })");
  EXPECT_THAT(Made(), ElementsAre(Pair(model::KeySource{"https://u", {}}, seconds(9)),
                                  Pair(model::KeySource{"https://v", {}}, seconds(30))));
}

TEST_F(WantedTest, NotWhatProxiesFetch) {
  AddService("a", "keys", {443});
  AddExternal("a", "twice.com", {443});
  AddExternal("b", "twice.com", {443});
  PutRules("a", "r", R"(jwt_rules { issuer: "known" jwks_uri: "https://keys.a.svc.cluster.local/keys" }
                        jwt_rules { issuer: "strange" jwks_uri: "https://strange.com" jwks: "unused" }
                        jwt_rules { issuer: "twice" jwks_uri: "https://twice.com" }
                        jwt_rules { issuer: "https://discovered" })");
  settings_.features.key_fetch = model::KeyFetch::kHybrid;
  SetSettings();
  EXPECT_THAT(Made(), ElementsAre(Pair(model::KeySource{{}, "https://discovered"}, seconds(5)),
                                  Pair(model::KeySource{"https://strange.com", {}}, seconds(5)),
                                  Pair(model::KeySource{"https://twice.com", {}}, seconds(5))));
  settings_.features.key_fetch = model::KeyFetch::kProxies;
  SetSettings();
  EXPECT_THAT(Made(), ElementsAre(Pair(model::KeySource{{}, "https://discovered"}, seconds(5))));
}

}  // namespace
}  // namespace fairlead::jwks
