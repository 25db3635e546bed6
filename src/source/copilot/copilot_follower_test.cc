#include "source/copilot/copilot_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "source/copilot/copilot_fake.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using istio::networking::v1alpha3::DestinationRule;
using istio::networking::v1alpha3::ServiceEntry;
using istio::networking::v1alpha3::VirtualService;
using ::testing::HasSubstr;

// The parts of routes as text: an entry, a rule and routes a line each.
std::string Text(const std::map<std::string, PlatformPart>& parts) {
  std::string text;
  for (const auto& [name, part] : parts) {
    for (const config::ConfigPtr& object : part.objects) {
      StrAppend(&text, name, ": ");
      if (object->kind() == config::Kind::kServiceEntry) {
        const auto& entry = object->Spec<ServiceEntry>();
        StrAppend(&text, Join(entry.addresses(), ","), entry.ports(0).number(), "/",
                  entry.ports(0).protocol());
        for (const auto& endpoint : entry.endpoints()) {
          StrAppend(&text, " ", endpoint.address(), ":", endpoint.ports().begin()->second);
          for (const auto& [key, value] : endpoint.labels()) StrAppend(&text, "(", value, ")");
        }
      } else if (object->kind() == config::Kind::kDestinationRule) {
        for (const auto& subset : object->Spec<DestinationRule>().subsets())
          StrAppend(&text, "subset ", subset.name(), " ");
      } else {
        for (const auto& route : object->Spec<VirtualService>().http()) {
          for (const auto& match : route.match())
            StrAppend(&text, match.uri().has_exact() ? "=" : "~", match.uri().prefix(), match.uri().exact(),
                      " ");
          for (const auto& one : route.route())
            StrAppend(&text, "to ", one.destination().subset(), "*", one.weight(), " ");
        }
      }
      StrAppend(&text, "\n");
    }
  }
  return text;
}

TEST(CopilotEntriesTest, ARouteIsAServiceWithTheBackendsOfItsProcess) {
  const CopilotOptions options = *ParseCopilotOptions("copilot://h?tls=false");
  EXPECT_EQ(
      Text(MakeCopilotParts(
          options, {{"Web.example.com", "", "p1", "", 100, {{"10.0.0.2", 61002}, {"10.0.0.1", 61001}}}}, {})),
      "web.example.com: 8080/HTTP 10.0.0.1:61001(p1) 10.0.0.2:61002(p1)\n");
}

TEST(CopilotEntriesTest, WeightsAndPathsAreAVirtualServiceWhateverTheOrder) {
  const CopilotOptions options = *ParseCopilotOptions("copilot://h?tls=false&port=80");
  const CopilotRoute one{"web.example.com", "", "p1", "", 75, {{"10.0.0.1", 1}}},
      two{"web.example.com", "", "p2", "", 25, {{"10.0.0.2", 2}}},
      api{"web.example.com", "/api", "p3", "", 100, {{"10.0.0.3", 3}}},
      deep{"web.example.com", "/api/v2", "p1", "", 0, {{"10.0.0.1", 1}}},
      empty{"web.example.com", "/none", "p4", "", 100, {}};
  const std::string wanted =
      "web.example.com: 80/HTTP 10.0.0.1:1(p1) 10.0.0.2:2(p2) 10.0.0.3:3(p3)\n"
      "web.example.com: subset p1 subset p2 subset p3 \n"
      "web.example.com: =/api/v2 ~/api/v2/ to p1*0 =/api ~/api/ to p3*0 to p1*75 to p2*25 \n";
  EXPECT_EQ(Text(MakeCopilotParts(options, {one, two, api, deep, empty}, {})), wanted);
  EXPECT_EQ(Text(MakeCopilotParts(options, {empty, deep, api, two, one}, {})), wanted);
}

TEST(CopilotEntriesTest, AnInternalRouteHasItsVirtualAddress) {
  const CopilotOptions options = *ParseCopilotOptions("copilot://h?tls=false&internalProtocol=tcp");
  EXPECT_EQ(Text(MakeCopilotParts(options, {},
                                  {{"app.apps.internal", "", "", "127.128.0.1", 0, {{"10.255.0.1", 8080}}}})),
            "internal app.apps.internal: 127.128.0.18080/TCP 10.255.0.1:8080\n");
}

TEST(CopilotEntriesTest, WhatCannotBeIsSaid) {
  const CopilotOptions options = *ParseCopilotOptions("copilot://h?tls=false");
  const auto why = [&](const CopilotRoute& route) {
    const auto parts = MakeCopilotParts(options, {route}, {route});
    std::string text;
    for (const auto& [name, part] : parts) {
      for (const auto& diagnostic : part.diagnostics) StrAppend(&text, diagnostic.message, "; ");
    }
    return text;
  };
  EXPECT_THAT(why({"we_b", "", "p", "", 0, {{"10.0.0.1", 1}}}), HasSubstr("\"we_b\" is no host name"));
  EXPECT_THAT(why({"web", "", "p", "here", 0, {{"10.0.0.1", 1}}}),
              HasSubstr("virtual address \"here\" is none"));
  EXPECT_THAT(why({"web", "", "p", "", 0, {{"10.0.0.1", 0}}}), HasSubstr("has no port"));
  EXPECT_THAT(why({"web", "/a", "p/q", "", 0, {{"10.0.0.1", 1}}}), HasSubstr("no name of a process"));
}

class CopilotFollowerTest : public ::testing::Test {
 protected:
  ~CopilotFollowerTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void Start(const CopilotOptions& options) {
    source_ = std::make_unique<PlatformSource>(PlatformSource::Options{.name = options.url.Name()},
                                               std::make_unique<CopilotFollower>(options));
    ASSERT_TRUE(source_->Start(&sink_).ok());
  }
  RecordingSink sink_;
  std::unique_ptr<PlatformSource> source_;
};

TEST_F(CopilotFollowerTest, AVersionThatSpeaksMcpAloneIsNamed) {
  CopilotFake copilot;
  copilot.Refuse(kCopilotRoutes, {grpc::StatusCode::UNIMPLEMENTED, "unknown service api.IstioCopilot"});
  Start(copilot.Options());
  EXPECT_TRUE(sink_.WaitForDiagnostic("serves its routes over MCP alone"));
}

TEST_F(CopilotFollowerTest, AVersionWithoutInternalRoutesIsFollowed) {
  CopilotFake copilot;
  copilot.Refuse(kCopilotInternalRoutes, {grpc::StatusCode::UNIMPLEMENTED, "unknown method"});
  copilot.Put("web", "1");
  Start(copilot.Options());
  EXPECT_TRUE(sink_.WaitForSync());
  EXPECT_NE(sink_.Find("web"), nullptr);
}

TEST_F(CopilotFollowerTest, SenselessAnswersLeaveTheLastGoodOnes) {
  CopilotFake copilot;
  copilot.Put("web", "1");
  Start(copilot.Options());
  ASSERT_TRUE(sink_.WaitForSync());
  copilot.Answer(kCopilotRoutes, "\x12\x05zz");
  EXPECT_TRUE(sink_.WaitForDiagnostic("malformed"));
  EXPECT_NE(sink_.Find("web"), nullptr);
}

TEST_F(CopilotFollowerTest, BothSidesProveThemselves) {
  const AuthorityFake authority, other;
  const Issued server = authority.Issue("copilot.service.cf.internal", "");
  CopilotFake copilot(&server, &authority);
  copilot.Put("web", "1");
  TestFolder folder;
  const auto write = [&folder](const AuthorityFake& by) {
    const Issued client = by.Issue("pilot", "");
    folder.Replace("client.crt", client.certificate);
    folder.Replace("client.key", client.key);
  };
  folder.Write("ca.crt", authority.certificate());
  folder.Write("client.crt", "");
  folder.Write("client.key", "");
  write(other);
  Start(copilot.Options(StrCat("serverName=copilot.service.cf.internal&caFile=", folder / "ca.crt",
                               "&certFile=", folder / "client.crt", "&keyFile=", folder / "client.key")));
  EXPECT_TRUE(sink_.WaitForDiagnostic("unreachable-source"));
  EXPECT_EQ(copilot.calls(), 0u);
  write(authority);
  EXPECT_TRUE(sink_.WaitForSync());
}

TEST_F(CopilotFollowerTest, MistakesInTheUrlAreNamed) {
  const auto why = [](std::string_view url) {
    return std::string(ParseCopilotOptions(url).status().message());
  };
  EXPECT_THAT(why("copilot://h"), HasSubstr("Copilot speaks mutual TLS"));
  EXPECT_THAT(why("copilot://h?tls=false&tokenFile=t"), HasSubstr("is not Copilot's"));
  EXPECT_THAT(why("copilot://h?tls=false&intervalSeconds=0"), HasSubstr("not a number from 1 to 3600"));
  EXPECT_THAT(why("copilot://h/x?tls=false"), HasSubstr("has no path"));
}

}  // namespace
}  // namespace fairlead::source
