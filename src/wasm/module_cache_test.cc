#include "wasm/module_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "wasm/box_fake.h"
#include "wasm/registry_fake.h"

namespace fairlead::wasm {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kOciLayer[] = "application/vnd.oci.image.layer.v1.tar+gzip";
constexpr char kModuleLayer[] = "application/vnd.module.wasm.content.layer.v1+wasm";
constexpr char kLogin[] = R"({"auth": "YW5uOnNlc2FtZQ=="})";

class ModuleCacheTest : public testing::Test {
 protected:
  ModuleCacheTest() { New({}); }
  ~ModuleCacheTest() override { std::system(("rm -rf " + folder_).c_str()); }
  void New(ModuleCache::Options options) {
    options.folder = folder_;
    options.download.first_wait = milliseconds(10);
    options.now = [this] { return now_; };
    cache_ = std::make_unique<ModuleCache>(std::move(options));
  }
  ModuleOrder Order(const std::string& url, const std::string& version = "1") const {
    return {.url = url, .plugin = "plugin", .plugin_version = version, .timeout = milliseconds(5000)};
  }
  // The module's bytes, or the error's text.
  std::string Get(const ModuleOrder& order) {
    const auto path = cache_->Get(order);
    if (!path.ok()) return std::string(path.status().message());
    std::ifstream file(*path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string PullSecret() const {
    return StrCat(R"({"auths": {")", registry_.host(), R"(": )", kLogin, "}}");
  }

  const std::string folder_ = StrCat(testing::TempDir(), "/wasm-", getpid());
  Clock::time_point now_ = Clock::now();
  FakeRegistry registry_;
  std::unique_ptr<ModuleCache> cache_;
  const std::string module_ = FakeModule("one"), other_ = FakeModule("two");
};

TEST_F(ModuleCacheTest, AModuleIsFetchedOnce) {
  registry_.PutFile("m", Gzip(module_));
  const ModuleOrder order = Order(registry_.Url("m"));
  EXPECT_EQ(Get(order), module_);
  registry_.PutFile("m", other_);
  EXPECT_EQ(Get(order), module_);
  EXPECT_EQ(Get(Order(order.url, "2")), module_) << "whatever the plugin's version";
  EXPECT_THAT(registry_.TakeAsked(), ElementsAre("/files/m"));
  ModuleOrder always = Order(order.url, "3");
  always.policy = PullPolicy::kAlways;
  EXPECT_EQ(Get(always), other_);
  EXPECT_EQ(Get(always), other_) << "the same version again";
  EXPECT_THAT(registry_.TakeAsked(), ElementsAre("/files/m"));
  EXPECT_EQ(cache_->size(), 2u);
}

TEST_F(ModuleCacheTest, TheChecksumDecides) {
  registry_.PutFile("m", module_);
  ModuleOrder order = Order(registry_.Url("m"));
  order.sha256 = Sha256Hex(other_);
  EXPECT_THAT(Get(order), HasSubstr(StrCat("has checksum ", Sha256Hex(module_), ", not ", order.sha256)));
  EXPECT_EQ(cache_->size(), 0u);
  order.sha256 = AsciiUpper(Sha256Hex(module_));
  EXPECT_EQ(Get(order), module_);
  order.sha256 = Sha256Hex(other_);
  registry_.PutFile("m", other_);
  EXPECT_EQ(Get(order), other_) << "another checksum, another module";
  EXPECT_EQ(cache_->size(), 2u);
}

TEST_F(ModuleCacheTest, ErrorsSayWhatIsWrong) {
  registry_.PutFile("text", "<html>");
  EXPECT_THAT(Get(Order(registry_.Url("text"))), HasSubstr("this is no Wasm module"));
  EXPECT_THAT(Get(Order(registry_.Url("none"))), HasSubstr("the answer is status 404"));
  EXPECT_THAT(Get(Order("ftp://x/m")), HasSubstr("fetched from http, https and oci"));
  EXPECT_THAT(Get(Order("oci://UPPER/m")), HasSubstr("names no image"));
  EXPECT_THAT(Get(Order(registry_.Image(":none"))), HasSubstr("no such thing"));
}

TEST_F(ModuleCacheTest, TroubleThatPassesIsWaitedFor) {
  registry_.PutFile("m", module_);
  registry_.FailNext(4);
  EXPECT_EQ(Get(Order(registry_.Url("m"))), module_);
  EXPECT_EQ(registry_.TakeAsked().size(), 5u);
  registry_.FailNext(5);
  EXPECT_THAT(Get(Order(registry_.Url("m2"))), HasSubstr("status 503"));
}

TEST_F(ModuleCacheTest, WhatIsTooLargeIsNotTaken) {
  ModuleCache::Options options;
  options.download.most_bytes = 1000;
  New(options);
  registry_.PutFile("large", module_ + std::string(2000, 'x'));
  registry_.PutFile("bomb", Gzip(module_ + std::string(2000, 'x')));
  EXPECT_THAT(Get(Order(registry_.Url("large"))), HasSubstr("more than 1000 bytes"));
  EXPECT_THAT(Get(Order(registry_.Url("bomb"))), HasSubstr("more than 1000 bytes when decompressed"));
  registry_.PutImage("large", kModuleLayer, module_ + std::string(2000, 'x'));
  EXPECT_THAT(Get(Order(registry_.Image(":large"))), HasSubstr("the layer has 2011 bytes, more than 1000"));
}

TEST_F(ModuleCacheTest, BlockedAddressesAreNotAsked) {
  ModuleCache::Options options;
  options.download.blocked = fetch::BlockedAddresses({*IpPrefix::Parse("127.0.0.0/8")});
  New(options);
  registry_.PutFile("m", module_);
  EXPECT_THAT(Get(Order(registry_.Url("m"))), HasSubstr("nothing may be fetched from 127.0.0.1"));
  EXPECT_THAT(Get(Order(registry_.Image(":1"))), HasSubstr("nothing may be fetched from 127.0.0.1"));
  EXPECT_THAT(registry_.TakeAsked(), IsEmpty());
}

TEST_F(ModuleCacheTest, ImagesOfBothVariants) {
  registry_.PutImage("compat", kOciLayer, Gzip(Tar({{"plugin.wasm", module_}})));
  const std::string digest = registry_.PutImage("artifact", kModuleLayer, other_);
  EXPECT_EQ(Get(Order(registry_.Image(":compat"))), module_);
  EXPECT_EQ(Get(Order(registry_.Image(":artifact"))), other_);
  EXPECT_THAT(registry_.TakeAsked(), ElementsAre("manifests", "blobs", "manifests", "blobs"));
  EXPECT_EQ(Get(Order(registry_.Image("@" + digest))), other_);
  EXPECT_THAT(registry_.TakeAsked(), IsEmpty()) << "the digest says that it is there";
}

TEST_F(ModuleCacheTest, ALayerMayBeCompressedByZstd) {
  registry_.PutImage("zstd", "application/vnd.oci.image.layer.v1.tar+zstd",
                     Zstd(Tar({{"plugin.wasm", module_}})));
  EXPECT_EQ(Get(Order(registry_.Image(":zstd"))), module_);
}

TEST_F(ModuleCacheTest, AnIndexLeadsToItsImage) {
  const std::string image = registry_.PutImage("1", kModuleLayer, module_);
  const std::string index =
      registry_.PutManifest("index", StrCat(R"({"manifests": [{"digest": ")", image, R"(", "size": 5}]})"));
  ModuleOrder order = Order(registry_.Image(":index"));
  order.sha256 = image.substr(7);
  EXPECT_EQ(Get(order), module_);
  EXPECT_EQ(Get(Order(registry_.Image("@" + index), "2")), module_);
}

TEST_F(ModuleCacheTest, ATagIsAskedForAgainByPolicy) {
  registry_.PutImage("latest", kModuleLayer, module_);
  registry_.PutImage("1", kModuleLayer, module_);
  EXPECT_EQ(Get(Order(registry_.Image(":latest"))), module_);
  EXPECT_EQ(Get(Order(registry_.Image(":1"))), module_);
  EXPECT_THAT(registry_.TakeAsked(), ElementsAre("manifests", "blobs", "manifests"))
      << "one digest, one download";
  registry_.PutImage("latest", kModuleLayer, other_);
  registry_.PutImage("1", kModuleLayer, other_);
  EXPECT_EQ(Get(Order(registry_.Image(":latest"))), module_);
  EXPECT_EQ(Get(Order(registry_.Image(":latest"), "2")), other_)
      << "the latest, of another version of the plugin";
  EXPECT_EQ(Get(Order(registry_.Image(":1"), "2")), module_);
  ModuleOrder kept = Order(registry_.Image(":latest"), "3");
  kept.policy = PullPolicy::kIfNotPresent;
  registry_.TakeAsked();
  EXPECT_EQ(Get(kept), other_);
  EXPECT_THAT(registry_.TakeAsked(), IsEmpty());
}

TEST_F(ModuleCacheTest, WhatIsNotWhatItsDigestSaysIsRefused) {
  const std::string layer = StrCat("sha256:", Sha256Hex(module_));
  const std::string image = registry_.PutImage("1", kModuleLayer, module_);
  registry_.Falsify(layer, FakeModule("bad"));
  EXPECT_THAT(Get(Order(registry_.Image(":1"))), HasSubstr("layer has checksum"));
  registry_.Falsify(image, "{}");
  EXPECT_THAT(Get(Order(registry_.Image("@" + image))), HasSubstr("manifest has checksum"));
  ModuleOrder order = Order(registry_.Image(":1"));
  order.sha256 = std::string(64, '0');
  EXPECT_THAT(Get(order), HasSubstr("not 0000"));
}

TEST_F(ModuleCacheTest, ARegistryGetsWhatItAsksFor) {
  registry_.PutImage("1", kModuleLayer, module_);
  for (const auto login : {FakeRegistry::Login::kBasic, FakeRegistry::Login::kBearer}) {
    New({});
    registry_.Want(login);
    ModuleOrder order = Order(registry_.Image(":1"), StrCat(static_cast<int>(login)));
    EXPECT_THAT(Get(order), testing::AnyOf(HasSubstr("no pull secret"), HasSubstr("gives no token")));
    order.pull_secret = "{}";
    EXPECT_THAT(Get(order), testing::AnyOf(HasSubstr("no pull secret"), HasSubstr("gives no token")));
    order.pull_secret = PullSecret();
    EXPECT_EQ(Get(order), module_);
  }
}

TEST_F(ModuleCacheTest, WithoutAPullSecretTheAgentsOwnConfigurationCounts) {
  registry_.PutImage("1", kModuleLayer, module_);
  registry_.Want(FakeRegistry::Login::kBearer);
  ModuleCache::Options options;
  options.download.docker_config = StrCat(folder_, "-config.json");
  ASSERT_TRUE(WriteFileAtomically(options.download.docker_config, PullSecret()).ok());
  const std::string file = options.download.docker_config;
  New(options);
  EXPECT_EQ(Get(Order(registry_.Image(":1"))), module_);
  EXPECT_TRUE(RemoveFile(file).ok());
}

TEST_F(ModuleCacheTest, WhatNobodyWantsGoes) {
  registry_.PutFile("m", module_);
  registry_.PutFile("n", other_);
  const auto path = cache_->Get(Order(registry_.Url("m")));
  ASSERT_TRUE(path.ok());
  now_ += hours(20);
  EXPECT_EQ(Get(Order(registry_.Url("n"))), other_);
  now_ += hours(5);
  cache_->Purge();
  EXPECT_EQ(cache_->size(), 1u);
  EXPECT_NE(access(path->c_str(), F_OK), 0);
  registry_.TakeAsked();
  EXPECT_EQ(Get(Order(registry_.Url("m"))), module_);
  EXPECT_EQ(registry_.TakeAsked().size(), 1u);
}

TEST_F(ModuleCacheTest, WhatWasWantedLongestAgoMakesRoom) {
  ModuleCache::Options options;
  options.most_bytes = 25;
  New(options);
  for (const char* name : {"a", "b", "c"}) registry_.PutFile(name, FakeModule(name));
  Get(Order(registry_.Url("a")));
  now_ += hours(1);
  Get(Order(registry_.Url("b")));
  now_ += hours(1);
  Get(Order(registry_.Url("a")));
  now_ += hours(1);
  Get(Order(registry_.Url("c")));
  EXPECT_EQ(cache_->size(), 2u);
  registry_.TakeAsked();
  Get(Order(registry_.Url("a")));
  EXPECT_THAT(registry_.TakeAsked(), IsEmpty());
}

TEST_F(ModuleCacheTest, AFileThatIsGoneIsFetchedAgain) {
  registry_.PutFile("m", module_);
  const auto path = cache_->Get(Order(registry_.Url("m")));
  ASSERT_TRUE(path.ok());
  ASSERT_TRUE(RemoveFile(*path).ok());
  EXPECT_EQ(Get(Order(registry_.Url("m"))), module_);
  EXPECT_EQ(cache_->size(), 1u);
}

TEST_F(ModuleCacheTest, ThoseThatWantOneUrlAtOnceShareADownload) {
  registry_.PutFile("m", module_);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      ModuleOrder order = Order(registry_.Url("m"));
      order.plugin = StrCat("plugin", i);
      EXPECT_EQ(Get(order), module_);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry_.TakeAsked().size(), 1u);
}

TEST_F(ModuleCacheTest, StoppingBreaksOffWhatIsWaitedFor) {
  registry_.FailNext(100);
  std::thread waiter([&] { Get(Order(registry_.Url("m"))); });
  cache_->Stop();
  waiter.join();
  EXPECT_EQ(Get(Order(registry_.Url("m"))), "stopped");
}

}  // namespace
}  // namespace fairlead::wasm
