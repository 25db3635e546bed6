// Create, change and delete an object of each kind under connected proxies: what exactly is sent to whom. The
// cases are the files in cases/; FAIRLEAD_REWRITE=1 writes into them what is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/strings.h"
#include "mesh/view/view.h"
#include "tests/updates/update_case.h"
#include "tests/updates/world.h"

namespace fairlead::updates {
namespace {

using xds::Framing;

std::string Mesh() {
  std::ostringstream text;
  text << std::ifstream("tests/updates/mesh.yaml").rdbuf();
  return text.str();
}

std::vector<Client> Clients() {
  const auto metadata = [](const char* ns, const char* app, const char* more) {
    return StrCat(R"({"NAMESPACE": ")", ns, R"(", "LABELS": {"app": ")", app,
                  R"("}, "CLUSTER_ID": "Kubernetes", "ISTIO_VERSION": "1.32.0")", more, "}");
  };
  Client client{.name = "client",
                .id = "sidecar~10.1.0.9~client.shop~shop.svc.cluster.local",
                .metadata = metadata("shop", "client", R"(, "DNS_CAPTURE": "true", "NETWORK": "west")"),
                .name_table = true};
  Client server{.name = "server",
                .id = "sidecar~10.1.0.1~a-1.shop~shop.svc.cluster.local",
                .metadata = metadata("shop", "a", "")};
  Client outsider{.name = "outsider",
                  .id = "sidecar~10.2.0.9~x.other~other.svc.cluster.local",
                  .metadata = metadata("other", "x", "")};
  return {client, server, outsider};
}

class UpdatesTest : public testing::TestWithParam<std::tuple<UpdateCase, Framing>> {
 protected:
  const UpdateCase& update() const { return std::get<0>(GetParam()); }
  Framing framing() const { return std::get<1>(GetParam()); }

  void Connect(bool shadow = false) {
    world_ = std::make_unique<World>(StrCat(Mesh(), "---\n", update().Section("there")),
                                     update().Section("mesh config"), shadow);
    for (const Client& client : Clients()) proxies_.push_back(world_->Connect(client, framing()));
    world_->AwaitQuiet();
    for (const auto& proxy : proxies_) ASSERT_FALSE(proxy->TakeTranscript().empty()) << proxy->name();
  }

  // "create" or "change"; twice changes nothing.
  void Do(const std::string& step) {
    const std::string manifests = update().Section(step);
    if (!manifests.empty()) {
      world_->Apply(manifests);
      EXPECT_FALSE(world_->Apply(manifests)) << step << " again";
      return;
    }
    const std::string mesh_config = update().Section(step + " mesh config");
    world_->Set(mesh_config.empty() ? update().Section("mesh config") : mesh_config,
                update().Section(step + " mesh networks"));
  }
  void Undo() {
    const std::string manifests = update().Section("change");
    manifests.empty() ? world_->Set(update().Section("mesh config"), "") : world_->Delete(manifests);
  }

  // What was sent since the last call; and whoever is connected holds what a new one gets.
  void Note(const std::string& step) {
    StrAppend(&transcript_, step, "\n");
    std::vector<ConnectedProxyPtr> fresh;
    for (const Client& client : Clients()) fresh.push_back(world_->Connect(client, framing()));
    world_->AwaitQuiet();
    for (size_t i = 0; i < proxies_.size(); ++i) {
      for (const std::string& line : proxies_[i]->TakeTranscript()) {
        StrAppend(&transcript_, "  ", proxies_[i]->name(), ": ", line, "\n");
      }
      EXPECT_TRUE(proxies_[i]->held() == fresh[i]->held())
          << step << ": " << proxies_[i]->name() << " is stale";
      fresh[i]->HangUp();
    }
  }
  void TearDown() override {
    for (const auto& proxy : proxies_) proxy->HangUp();
  }

  std::unique_ptr<World> world_;
  std::vector<ConnectedProxyPtr> proxies_;
  std::string transcript_;
};

TEST_P(UpdatesTest, TheRightResourcesMoveAndOnlyThose) {
  Connect();
  Do("create");
  Note("create");
  Do("change");
  Note("change");
  Undo();
  Note("delete");
  if (std::getenv("FAIRLEAD_REWRITE") != nullptr && framing() == Framing::kStateOfTheWorld) {
    Rewrite(update(), transcript_);
  } else {
    EXPECT_EQ(transcript_, update().Section("sent"));
  }
}

TEST_P(UpdatesTest, WhatIsTakenOverIsWhatWouldBeMade) {
  const uint64_t before = mesh::MismatchCount();
  Connect(/*shadow=*/true);
  Do("create");
  Do("change");
  Undo();
  EXPECT_EQ(mesh::MismatchCount(), before);
}

TEST(UpdatesToOneThatNeverLetsGo, ReachItWhenThingsAreQuiet) {
  Client client = Clients().front();
  client.lets_go = false;
  World world(Mesh(), "");
  const ConnectedProxyPtr proxy = world.Connect(client, Framing::kDelta);
  world.AwaitQuiet();
  proxy->TakeTranscript();
  world.Apply(R"(
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: s, namespace: shop}
spec: {egress: [{hosts: [./b.shop.svc.cluster.local]}]}
)");
  std::vector<std::string> lines;
  Await(
      [&] {
        for (std::string& line : proxy->TakeTranscript()) lines.push_back(std::move(line));
        return !lines.empty() && lines.back().starts_with("EDS");
      },
      "endpoints that are gone");
  EXPECT_THAT(lines,
              testing::ElementsAre("RDS ~80", "NDS ~", "CDS -outbound|80||a.shop -outbound|80||c.other",
                                   "EDS ~outbound|80||a.shop"));
  proxy->HangUp();
}

std::string NameOf(const testing::TestParamInfo<UpdatesTest::ParamType>& info) {
  return StrCat(std::get<0>(info.param).name,
                std::get<1>(info.param) == Framing::kDelta ? "InDelta" : "InStateOfTheWorld");
}

INSTANTIATE_TEST_SUITE_P(All, UpdatesTest,
                         testing::Combine(testing::ValuesIn(ReadCases("tests/updates/cases")),
                                          testing::Values(Framing::kStateOfTheWorld, Framing::kDelta)),
                         NameOf);

}  // namespace
}  // namespace fairlead::updates
