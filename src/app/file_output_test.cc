#include "serving/file_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "app/server_fixture.h"
#include "push/stream/config_source.h"
#include "serving/node_list.h"
#include "source/file/read_file.h"

// The files of a running server, and what they are written from.
namespace fairlead::app {
namespace {

using push::FileNameOf;
using serving::ParseNodes;

using nlohmann::json;
using testing::HasSubstr;
using testing::Key;
using testing::UnorderedElementsAre;

TEST(FileNames, KeepNamesApart) {
  EXPECT_EQ(FileNameOf("9080"), "9080");
  EXPECT_EQ(FileNameOf("outbound|80||a.com"), "outbound%7C80%7C%7Ca.com");
  EXPECT_EQ(FileNameOf("../x"), "%2E.%2Fx") << "no way out of the folder";
  EXPECT_EQ(FileNameOf("%7C"), "%257C");
  const std::string a(300, 'a'), b = std::string(299, 'a') + "b";
  EXPECT_LT(FileNameOf(a).size(), 250u);
  EXPECT_NE(FileNameOf(a), FileNameOf(b));
}

TEST(Nodes, ComeAloneInListsAndInDocuments) {
  const auto nodes = ParseNodes(R"(
- {id: "sidecar~10.0.0.1~a.n~n.svc.cluster.local", metadata: {CLUSTER_ID: c1}}
- {id: "sidecar~10.0.0.2~b.n~n.svc.cluster.local"}
---
id: sidecar~10.0.0.3~c.n~n.svc.cluster.local
)");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_THAT(*nodes, UnorderedElementsAre(Key("sidecar~10.0.0.1~a.n~n.svc.cluster.local"),
                                           Key("sidecar~10.0.0.2~b.n~n.svc.cluster.local"),
                                           Key("sidecar~10.0.0.3~c.n~n.svc.cluster.local")));
  EXPECT_EQ(nodes->begin()->second->metadata.cluster_id, "c1");
  EXPECT_FALSE(ParseNodes("id: nobody").ok());
  EXPECT_FALSE(ParseNodes("{").ok());
  EXPECT_FALSE(ParseNodes("- 3").ok());
}

class FilesTest : public ServerTest {
 protected:
  FilesTest() {
    options_.xds_out_dir = std::filesystem::path(folder_ + "-out").lexically_normal();
    options_.xds_out_nodes = folder_ + "/.nodes.json";
    WriteNodes({kClientNode});
  }
  ~FilesTest() override {
    server_.reset();
    std::filesystem::remove_all(options_.xds_out_dir);
  }
  void WriteNodes(const std::vector<std::string>& ids) {
    json nodes = json::array();
    for (const auto& id : ids) nodes.push_back({{"id", id}});
    Write(".nodes.json", nodes.dump());
  }
  std::string PathOf(const std::string& file, const std::string& node = kClientNode) {
    return options_.xds_out_dir + "/" + FileNameOf(node) + "/" + file;
  }
  // A file's content as soon as it holds a text.
  json Await(const std::string& path, const std::string& text) {
    for (int i = 0; i < 2000; ++i) {
      const auto content = source::ReadFile(path);
      if (content.ok() && content->find(text) != std::string::npos) return json::parse(*content);
      usleep(10000);
    }
    ADD_FAILURE() << path << " never holds " << text;
    return {};
  }
  static ino_t Inode(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_ino;
  }
};

constexpr char kEndpoints[] = "eds/outbound%7C9080%7C%7Creviews.shop.svc.cluster.local.json";

TEST_F(FilesTest, HoldWhatANodeIsToHaveAndReferToEachOther) {
  StartServer();
  const json listeners = Await(PathOf("lds.json"), "virtualOutbound");
  EXPECT_THAT(listeners.dump(), HasSubstr(PathOf("rds/9080.json")));
  EXPECT_THAT(listeners.dump(), testing::Not(HasSubstr("\"ads\"")));
  const json clusters = Await(PathOf("cds.json"), "reviews");
  EXPECT_THAT(clusters.dump(), HasSubstr(PathOf(kEndpoints)));
  const json endpoints = Await(PathOf(kEndpoints), "10.1.0.1");
  ASSERT_EQ(endpoints["resources"].size(), 1u) << "Envoy wants one in a file";
  EXPECT_EQ(endpoints["typeUrl"], Url(xds::TypeId::kEndpoint));
  Await(PathOf("rds/9080.json"), "reviews");
  Await(PathOf("nds.json"), "reviews.shop.svc.cluster.local");
}

TEST_F(FilesTest, AnEditReplacesOneFileAndOneOnly) {
  StartServer();
  Await(PathOf("nds.json"), "reviews");
  const ino_t clusters = Inode(PathOf("cds.json")), listeners = Inode(PathOf("lds.json")),
              endpoints = Inode(PathOf(kEndpoints)), routes = Inode(PathOf("rds/9080.json"));
  WriteRoute("7s");
  Await(PathOf("rds/9080.json"), "\"7s\"");
  EXPECT_NE(Inode(PathOf("rds/9080.json")), routes) << "renamed into place";
  EXPECT_EQ(Inode(PathOf("cds.json")), clusters);
  EXPECT_EQ(Inode(PathOf("lds.json")), listeners);
  EXPECT_EQ(Inode(PathOf(kEndpoints)), endpoints);
  EXPECT_FALSE(std::filesystem::exists(PathOf("rds/9080.json.new")));
}

TEST_F(FilesTest, StayWhenTheServerEndsAndAreNotWrittenAgain) {
  StartServer();
  Await(PathOf("nds.json"), "reviews");
  const ino_t clusters = Inode(PathOf("cds.json"));
  server_.reset();
  EXPECT_EQ(Inode(PathOf("cds.json")), clusters);
  WriteRoute("8s");
  StartServer();
  Await(PathOf("rds/9080.json"), "\"8s\"");
  EXPECT_EQ(Inode(PathOf("cds.json")), clusters);
}

TEST_F(FilesTest, WhatNothingRefersToGoesAndNewNodesCome) {
  StartServer();
  Await(PathOf("nds.json"), "reviews");
  Write("service.yaml", ReplaceAll(kService, "reviews", "ratings"));
  Await(PathOf("nds.json"), "ratings");
  EXPECT_TRUE(std::filesystem::exists(PathOf(ReplaceAll(kEndpoints, "reviews", "ratings"))));
  const std::string other = "sidecar~10.1.0.8~other.shop~shop.svc.cluster.local";
  WriteNodes({kClientNode, other});
  Await(PathOf("nds.json", other), "ratings");
  EXPECT_FALSE(std::filesystem::exists(PathOf(kEndpoints))) << "by the next round at the latest";
}

TEST_F(FilesTest, WhatCouldNotBeWrittenIsTriedAgain) {
  std::filesystem::create_directories(PathOf("cds.json"));  // nothing can be renamed over a folder
  StartServer();
  Await(PathOf("nds.json"), "reviews");  // the others are written all the same
  std::filesystem::remove(PathOf("cds.json"));
  Await(PathOf("cds.json"), "reviews");
}

TEST_F(FilesTest, AFolderThatCannotBeMadeIsAnError) {
  options_.xds_out_dir = "/proc/nowhere";
  DiscoveryServer server(options_);
  EXPECT_TRUE(absl::IsUnavailable(server.Start()));
  options_.xds_out_dir = "";
}

}  // namespace
}  // namespace fairlead::app
