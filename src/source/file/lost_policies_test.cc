#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/metrics.h"
#include "base/strings.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "source/file/file_source.h"
#include "source/file/source_fake.h"

// What becomes of policies that cannot be read, and of those whose file goes wrong as a whole.
namespace fairlead::source {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kPolicy[] = R"(apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: p, namespace: a}
spec:
  selector: {matchLabels: {app: web}}
  action: DENY
  rules:
  - from: [{source: {namespaces: [evil]}}]
)";

std::string Policy(std::string_view from, std::string_view to) { return ReplaceAll(kPolicy, from, to); }

class LostPoliciesTest : public ::testing::Test {
 protected:
  void Start(FileCatalog::LostPolicies lost = FileCatalog::LostPolicies::kServed, LastGood* kept = nullptr) {
    FileSource::Options options;
    options.folder = folder_.path();
    options.threads = 1;
    options.watch.unfinished_after = milliseconds(300);
    options.lost_policies = lost;
    options.kept = kept;
    source_ = std::make_unique<FileSource>(std::move(options));
    ASSERT_TRUE(source_->Start(&sink_).ok());
    ASSERT_TRUE(sink_.WaitForSync());
  }
  bool Has(std::string_view name) { return sink_.Find(name) != nullptr; }
  // The objects that deny requests in the place of what cannot be read: "a app=web".
  std::vector<std::string> Denials() {
    std::vector<std::string> all;
    for (const config::ConfigPtr& object : sink_.All()) {
      if (!config::IsDenialOfLost(KeyOf(*object))) continue;
      std::string& said = all.emplace_back(object->ns().str());
      const auto& spec = object->Spec<istio::security::v1beta1::AuthorizationPolicy>();
      for (const auto& [key, value] : spec.selector().match_labels()) StrAppend(&said, " ", key, "=", value);
    }
    return all;
  }
  static bool Counts(int lost) {
    return metrics::ToText().find(StrCat("\nfairlead_unreadable_policies ", lost, "\n")) != std::string::npos;
  }

  TestFolder folder_;
  RecordingSink sink_;
  std::unique_ptr<FileSource> source_;
};

TEST_F(LostPoliciesTest, OneThatIsNewAndCannotBeReadIsAnErrorOfItsOwn) {
  folder_.Write("a.yaml", Policy("rules:", "rulez:"));
  Start();
  EXPECT_TRUE(sink_.WaitForDiagnostic(
      "a.yaml:1: error: the policy a/p cannot be read and has no earlier version: it is not in force "
      "(unreadable-policy)"));
  EXPECT_TRUE(Counts(1));
  EXPECT_THAT(Denials(), IsEmpty());
  folder_.Replace("b.yaml", Policy("security.istio.io", "security.istio.oi"));
  EXPECT_TRUE(sink_.WaitForDiagnostic("b.yaml:1: error: the policy a/p cannot be read"));
  EXPECT_TRUE(Counts(2));
  folder_.Replace("a.yaml", kPolicy);
  folder_.Remove("b.yaml");
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_TRUE(Counts(0));
  EXPECT_TRUE(Has("p"));
}

TEST_F(LostPoliciesTest, ItsWorkloadsAreClosedUntilItIsMended) {
  folder_.Write("a.yaml", StrCat(Policy("rules:", "rulez:"), "---\n", Policy("rules:", "rules: ["), "---\n",
                                 ReplaceAll(Policy("action: DENY", "action: deny"), "name: p", "name: q")));
  Start(FileCatalog::LostPolicies::kDenied);
  EXPECT_TRUE(sink_.WaitForDiagnostic("every request to its workloads is denied until it is mended"));
  EXPECT_TRUE(sink_.WaitForDiagnostic("every request to the workloads of namespace a is denied"));
  EXPECT_THAT(Denials(), testing::UnorderedElementsAre("a", "a app=web", "a app=web"));
  folder_.Replace("a.yaml", kPolicy);
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_THAT(Denials(), IsEmpty());
  EXPECT_TRUE(Has("p"));
  // Now there is an earlier version.
  folder_.Replace("a.yaml", Policy("rules:", "rules: ["));
  EXPECT_TRUE(sink_.WaitForDiagnostic("(last-good)"));
  EXPECT_THAT(Denials(), IsEmpty());
  EXPECT_TRUE(Has("p"));
}

TEST_F(LostPoliciesTest, AnEditThatMisspellsKeepsThePolicyInForce) {
  folder_.Write("a.yaml", kPolicy);
  folder_.Write("b.yaml", NamespaceText("b", "1"));
  Start(FileCatalog::LostPolicies::kDenied);
  for (const std::string& text :
       {Policy("security.istio.io", "security.istio.oi"),
        Policy("AuthorizationPolicy", "AuthorisationPolicy"), Policy("name: p", "name: P"),
        Policy("name: p, ", ""), Policy("kind: AuthorizationPolicy\n", ""),
        Policy("apiVersion: security.istio.io/v1\n", "foo: bar\n"), StrCat("{{- if .x }}\n", kPolicy),
        StrCat("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: security.istio.oi/v1, kind: "
               "AuthorizationPolicy, metadata: {name: p, namespace: a}}\n")}) {
    folder_.Replace("a.yaml", text);
    EXPECT_TRUE(sink_.WaitForDiagnostic("(last-good)")) << text;
    EXPECT_TRUE(Has("p")) << text;
    EXPECT_TRUE(Counts(0)) << text;
    folder_.Replace("a.yaml", kPolicy);
    EXPECT_TRUE(sink_.WaitForDiagnostic("")) << text;
  }
  EXPECT_THAT(sink_.History("p"), ElementsAre(""));
}

TEST_F(LostPoliciesTest, AFileOfWhichNothingIsLeftKeepsItsPolicies) {
  folder_.Write("a.yaml", StrCat(kPolicy, "---\n", NamespaceText("ns", "1")));
  folder_.Write("b.yaml", NamespaceText("b", "1"));
  Start();
  for (const char* nothing : {"", "# all of it\n", "---\n"}) {
    folder_.Replace("a.yaml", nothing);
    EXPECT_TRUE(sink_.WaitForDiagnostic("a.yaml: error: nothing is left of the file; its policies stay"))
        << nothing;
    EXPECT_TRUE(Has("p")) << nothing;
    EXPECT_FALSE(Has("ns")) << nothing;
    folder_.Replace("a.yaml", StrCat(kPolicy, "---\n", NamespaceText("ns", "1")));
    EXPECT_TRUE(sink_.WaitForDiagnostic("")) << testing::PrintToString(sink_.Diagnostics());
  }
  folder_.Replace("a.yaml", "");
  EXPECT_TRUE(sink_.WaitForDiagnostic("(emptied-file)"));
  folder_.Remove("a.yaml");
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_FALSE(Has("p"));
}

TEST_F(LostPoliciesTest, WhatIsNoFileAnyMoreKeepsAll) {
  folder_.Write("a.yaml", StrCat(kPolicy, "---\n", NamespaceText("ns", "1")));
  folder_.Write("b.yaml", NamespaceText("b", "1"));
  Start();
  folder_.Remove("a.yaml");
  folder_.Link("/nowhere/x", "a.yaml");
  EXPECT_TRUE(sink_.WaitForDiagnostic("(unreadable-file)"));
  EXPECT_TRUE(Has("p"));
  EXPECT_TRUE(Has("ns"));
  folder_.Replace("a.yaml", kPolicy);
  EXPECT_TRUE(sink_.WaitForDiagnostic("")) << testing::PrintToString(sink_.Diagnostics());
  folder_.Remove("a.yaml");
  folder_.Write("a.yaml/readme", "a folder");
  EXPECT_TRUE(sink_.WaitForDiagnostic("is no regular file"));
  EXPECT_TRUE(Has("p"));
  folder_.Remove("a.yaml");
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_FALSE(Has("p"));
}

// The same over a restart.
TEST_F(LostPoliciesTest, WhatIsKeptIsAnEarlierVersion) {
  const TestFolder state;
  auto kept = LastGood::Open(state.path());
  folder_.Write("a.yaml", kPolicy);
  folder_.Write("b.yaml", Policy("name: p", "name: q"));
  folder_.Write("c.yaml", Policy("name: p", "name: r"));
  folder_.Write("d.yaml", NamespaceText("d", "1"));
  Start(FileCatalog::LostPolicies::kDenied, kept->get());
  source_.reset();
  (*kept)->Flush();
  folder_.Replace("a.yaml", Policy("security.istio.io", "security.istio.oi"));
  folder_.Replace("b.yaml", "# none\n");
  folder_.Remove("c.yaml");
  folder_.Link("/nowhere/x", "c.yaml");
  RecordingSink after;
  FileSource::Options options;
  options.folder = folder_.path();
  options.kept = kept->get();
  options.lost_policies = FileCatalog::LostPolicies::kDenied;
  FileSource source(std::move(options));
  ASSERT_TRUE(source.Start(&after).ok());
  ASSERT_TRUE(after.WaitForSync());
  for (const char* name : {"p", "q", "r"}) EXPECT_NE(after.Find(name), nullptr) << name;
  EXPECT_TRUE(Counts(0));
}

}  // namespace
}  // namespace fairlead::source
