#include "app/state_folder.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "app/listener_names.h"

// What is kept is found again wherever the program is started, and by whoever needs it.
namespace fairlead::app {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Not;

std::string Default(const std::map<std::string, std::string>& variables) {
  return DefaultStateFolder([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(StateFolder, IsOfTheUnitTheUserOrTheMachine) {
  EXPECT_EQ(Default({{"STATE_DIRECTORY", "/var/lib/private/fairlead:/var/lib/more"}, {"HOME", "/home/me"}}),
            "/var/lib/private/fairlead");
  const bool superuser = geteuid() == 0;
  EXPECT_EQ(Default({{"HOME", "/home/me"}}),
            superuser ? "/var/lib/fairlead" : "/home/me/.local/state/fairlead");
  EXPECT_TRUE(Default({}).starts_with('/'));
}

class AuthorityFolderTest : public testing::Test {
 protected:
  AuthorityFolderTest() : root_(testing::TempDir() + "state-folder-" + std::to_string(getpid())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/elsewhere");
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(root_);
    options_.state_dir = root_ + "/state";
    options_.config_dir = root_;
  }
  ~AuthorityFolderTest() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(root_);
  }
  void PutRoot(const std::string& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/ca-key.pem") << "key";
  }

  const std::string root_;
  std::filesystem::path before_;
  DiscoveryOptions options_;
};

TEST_F(AuthorityFolderTest, DoesNotDependOnWhereTheProgramIsStarted) {
  EXPECT_EQ(AuthorityFolder(options_), root_ + "/state/ca");
  std::filesystem::current_path(root_ + "/elsewhere");
  EXPECT_EQ(AuthorityFolder(options_), root_ + "/state/ca");
  options_.state_dir = "";
  options_.environment.default_state_dir = "/srv/state";
  EXPECT_EQ(AuthorityFolder(options_), "/srv/state/ca");
  options_.environment.ca_dir = "keys";
  EXPECT_EQ(AuthorityFolder(options_), root_ + "/elsewhere/keys");
}

TEST_F(AuthorityFolderTest, AnEarlierVersionsRootIsUsedWhileThereIsNoOther) {
  PutRoot("var/lib/fairlead/ca");
  EXPECT_EQ(AuthorityFolder(options_), root_ + "/var/lib/fairlead/ca");
  PutRoot(root_ + "/state/ca");
  EXPECT_EQ(AuthorityFolder(options_), root_ + "/state/ca");
}

TEST_F(AuthorityFolderTest, OtherPlacesAreInTheStateFolderOrNowhere) {
  EXPECT_EQ(RootFile(options_), root_ + "/state/root-cert.pem");
  EXPECT_EQ(TokenFolder("state"), root_ + "/state/tokens");
  options_.state_dir = "";
  EXPECT_EQ(RootFile(options_), "");
  EXPECT_EQ(TokenFolder(""), "");
}

TEST(ListenerNames, OfAFolderAreThoseOfTheMachine) {
  DiscoveryOptions options;
  options.ns = "istio-system";
  options.environment.custom_host = "mesh.example, mesh.example";
  options.environment.server_name = "control.example";
  EXPECT_THAT(ListenerNames(options),
              testing::ElementsAre("mesh.example", "control.example", "istiod.istio-system.svc",
                                   "istiod-remote.istio-system.svc", "istio-pilot.istio-system.svc"))
      << "a cluster's proxies know Services";
  options.config_dir = "mesh";
  EXPECT_THAT(ListenerNames(options), AllOf(Contains("localhost"), Contains("127.0.0.1")));
  options.secure_grpc_addr = "[fd00::1]:15012";
  EXPECT_THAT(ListenerNames(options),
              AllOf(Contains("localhost"), Contains("fd00::1"), Not(Contains("127.0.0.1"))));
}

}  // namespace
}  // namespace fairlead::app
