#include "source/cluster/kubeconfig_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"

namespace fairlead::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KubeconfigSecretsTest : public ::testing::Test {
 protected:
  // `age`: the more, the older.
  void Add(const std::string& name, int age, const std::string& data) {
    const auto parsed =
        config::ParseManifests(StrCat("{apiVersion: v1, kind: Secret, metadata: {name: ", name,
                                      ", namespace: s, creationTimestamp: '20", 90 - age,
                                      "-01-01T00:00:00Z'}, stringData: ", data, "}"),
                               "a.yaml");
    ASSERT_EQ(parsed.objects.size(), 1u);
    secrets_[config::KeyOf(*parsed.objects[0])] = parsed.objects[0];
  }
  void Hold(const std::string& cluster, const std::string& name) {
    holders_[cluster] = {config::Kind::kSecret, "s", name};
  }
  // "east=one:text", and the problems.
  std::vector<std::string> Choose() {
    problems_.clear();
    std::vector<config::Diagnostic> problems;
    std::vector<std::string> chosen;
    for (const auto& [cluster, one] : ChooseKubeconfigs(secrets_, holders_, rules_, &problems))
      chosen.push_back(StrCat(cluster, "=", one.secret.name.str(), ":", one.text));
    for (const config::Diagnostic& problem : problems) problems_.push_back(config::ToText(problem));
    return chosen;
  }

  std::map<config::ObjectKey, config::ConfigPtr> secrets_;
  std::map<std::string, config::ObjectKey, std::less<>> holders_;
  KubeconfigRules rules_{.own_cluster = "main"};
  std::vector<std::string> problems_;
};

TEST_F(KubeconfigSecretsTest, EachKeyIsACluster) {
  Add("one", 1, "{east: a, west: b}");
  Add("two", 1, "{north: c}");
  EXPECT_THAT(Choose(), ElementsAre("east=one:a", "north=two:c", "west=one:b"));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(KubeconfigSecretsTest, TheOwnClusterIsNoOther) {
  Add("one", 1, "{main: a, west: b}");
  EXPECT_THAT(Choose(), ElementsAre("west=one:b"));
  EXPECT_THAT(problems_,
              ElementsAre(HasSubstr("warning: Secret s/one: data.main: this is the control plane's")));
}

TEST_F(KubeconfigSecretsTest, OfAClusterInSeveralSecretsTheHolderCountsElseTheOldest) {
  Add("a-new", 1, "{east: new}");
  Add("b-old", 2, "{east: old}");
  EXPECT_THAT(Choose(), ElementsAre("east=b-old:old"));
  EXPECT_THAT(problems_,
              ElementsAre(HasSubstr("Secret s/a-new: data.east: the cluster is that of Secret s/b-old")));
  Hold("east", "a-new");
  EXPECT_THAT(Choose(), ElementsAre("east=a-new:new"));
  secrets_.erase(secrets_.begin());
  EXPECT_THAT(Choose(), ElementsAre("east=b-old:old"));
}

TEST_F(KubeconfigSecretsTest, SizesAndNumbersHaveLimits) {
  rules_.most_bytes = 5;
  rules_.most_clusters = 2;
  Add("one", 2, "{a: '123456', b: '', c: '1', d: '2', e: '3'}");
  Add("two", 1, "{f: '4'}");
  Hold("f", "two");
  EXPECT_THAT(Choose(), ElementsAre("c=one:1", "f=two:4"));
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("data.a: the kubeconfig has 6 bytes, more than 5"),
                                     HasSubstr("data.b: the kubeconfig is empty"),
                                     HasSubstr("data.d: there are more than 2 clusters"),
                                     HasSubstr("data.e: there are more than 2 clusters")));
}

}  // namespace
}  // namespace fairlead::source
