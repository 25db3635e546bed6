#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "wasm/box_fake.h"
#include "wasm/module_cache.h"
#include "wasm/registry_fake.h"
#include "wasm/tar.h"
#include "wasm/unbox.h"

// Registries and servers that lie, lead elsewhere or never end.
namespace fairlead::wasm {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kModuleLayer[] = "application/vnd.module.wasm.content.layer.v1+wasm";
constexpr char kOciLayer[] = "application/vnd.oci.image.layer.v1.tar+gzip";

class WasmAttack : public testing::Test {
 protected:
  ~WasmAttack() override { std::system(("rm -rf " + folder_).c_str()); }
  // Why the image or module is not had; "" where it is.
  std::string Get(const std::string& url, DownloadOptions options = {}, const std::string& secret = "") {
    ModuleCache::Options all;
    all.folder = folder_;
    all.download = std::move(options);
    all.download.first_wait = milliseconds(1);
    all.download.attempts = 1;
    ModuleCache cache(std::move(all));
    ModuleOrder order{.url = url, .plugin = "p", .plugin_version = "1", .timeout = milliseconds(10'000)};
    if (!secret.empty()) order.pull_secret = secret;
    const auto path = cache.Get(order);
    return path.ok() ? "" : std::string(path.status().message());
  }
  static std::string SecretFor(const FakeRegistry& registry) {
    return StrCat(R"({"auths": {")", registry.host(), R"(": {"auth": "YW5uOnNlc2FtZQ=="}}})");
  }
  static std::string ManifestOf(const std::string& type, const std::string& digest, const std::string& size) {
    return StrCat(R"({"layers": [{"mediaType": ")", type, R"(", "digest": ")", digest, R"(", "size": )", size,
                  "}]}");
  }

  const std::string folder_ = StrCat(testing::TempDir(), "/wasm-attack-", getpid());
  FakeRegistry registry_;
  const std::string module_ = FakeModule("one");
};

TEST_F(WasmAttack, ALayerIsAsLongAsItsManifestSays) {
  const std::string digest = registry_.PutBlob(module_);
  registry_.PutManifest("short", ManifestOf(kModuleLayer, digest, "3"));
  EXPECT_THAT(Get(registry_.Image(":short")), HasSubstr("more than 3 bytes"));
  registry_.PutManifest("huge", ManifestOf(kModuleLayer, digest, "18446744073709551615"));
  EXPECT_THAT(Get(registry_.Image(":huge")), HasSubstr("ISTIO_WASM_MAX_BINARY_SIZE_BYTES"));
  for (const char* size : {"-1", "1e30", "\"9\"", "null"}) {
    registry_.PutManifest("odd", ManifestOf(kModuleLayer, digest, size));
    EXPECT_THAT(Get(registry_.Image(":odd")), HasSubstr("without a size")) << size;
  }
}

TEST_F(WasmAttack, ManifestsThatAreNoneAreRefused) {
  const std::string part = R"({"digest": "sha256:)" + std::string(64, 'a') + R"(", "size": 1},)";
  std::string many = R"({"layers": [)";
  for (int i = 0; i < 20'000; ++i) many += part;
  many.back() = ']';
  const std::pair<std::string, const char*> cases[] = {
      {std::string(3 << 20, '['), "no JSON object"},
      {many + "}", "too many parts"},
      {std::string(5 << 20, ' '), "more than 4194304 bytes"},
      {R"({"layers": [{"digest": "sha256:../../etc/passwd", "size": 1}]})", "digest of another kind"},
      {R"({"layers": [{"digest": "md5:00", "size": 1}]})", "digest of another kind"},
  };
  for (const auto& [text, why] : cases) {
    registry_.PutManifest("1", text);
    EXPECT_THAT(Get(registry_.Image(":1")), HasSubstr(why));
  }
}

// An index that leads to itself, and to another index.
TEST_F(WasmAttack, IndexesLeadToImages) {
  const std::string inner = registry_.PutManifest("inner", R"({"manifests": []})");
  registry_.PutManifest("outer", StrCat(R"({"manifests": [{"digest": ")", inner, R"(", "size": 5}]})"));
  EXPECT_THAT(Get(registry_.Image(":outer")), HasSubstr("leads to an index"));
}

// What a registry says goes into messages, and those into logs.
TEST_F(WasmAttack, ARegistryWritesNoLog) {
  const std::string evil = "\\u001b[2J\\n2026-01-01T00:00:00Z\\tinfo\\tforged" + std::string(1 << 20, 'x');
  registry_.PutManifest("digest", ManifestOf(kModuleLayer, evil, "1"));
  registry_.PutManifest("type", ManifestOf(evil, "sha256:" + std::string(64, 'a'), "1"));
  for (const char* tag : {":digest", ":type"}) {
    const std::string why = Get(registry_.Image(tag));
    EXPECT_THAT(why, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n")), HasSubstr("forged"))) << tag;
    EXPECT_LT(why.size(), 400u) << tag;
  }
}

TEST_F(WasmAttack, RedirectsDoNotLeadToBlockedAddresses) {
  const std::string digest = registry_.PutImage("1", kModuleLayer, module_);
  const std::string layer = StrCat("sha256:", Sha256Hex(module_));
  registry_.Redirect(layer, "http://169.254.169.254/latest/meta-data");
  EXPECT_THAT(Get(registry_.Image(":1")), HasSubstr("nothing may be fetched from 169.254.169.254"));
  DownloadOptions options;
  options.blocked = fetch::BlockedAddresses({*IpPrefix::Parse("127.0.0.2/32")});
  registry_.Redirect(layer, "http://127.0.0.2:1/");
  EXPECT_THAT(Get(registry_.Image(":1"), options), HasSubstr("nothing may be fetched from 127.0.0.2"));
}

// A registry may keep its blobs elsewhere; whoever keeps them is not shown who asks.
TEST_F(WasmAttack, CredentialsStayWithTheirRegistry) {
  FakeRegistry other("127.0.0.2");
  other.PutFile("blob", module_);
  for (const auto login : {FakeRegistry::Login::kBasic, FakeRegistry::Login::kBearer}) {
    registry_.Want(login);
    registry_.PutImage("1", kModuleLayer, module_);
    registry_.Redirect(StrCat("sha256:", Sha256Hex(module_)), other.Url("blob"));
    EXPECT_EQ(Get(registry_.Image(":1"), {}, SecretFor(registry_)), "");
    std::system(("rm -rf " + folder_).c_str());
  }
  EXPECT_THAT(registry_.Shown(), Contains(HasSubstr("Basic ")));
  EXPECT_THAT(other.Shown(), testing::SizeIs(2));
  EXPECT_THAT(other.Shown(), Each(""));
}

// The name of the realm resolves inside, where the registry is not.
TEST_F(WasmAttack, ARealmsNameDoesNotLeadInside) {
  FakeRegistry outside("127.0.0.2");
  outside.PutImage("1", kModuleLayer, module_);
  outside.Want(FakeRegistry::Login::kBearer);
  outside.SetRealm("https://tokens.localhost:1/token");
  DownloadOptions options;
  options.insecure = {outside.host()};
  options.inside = {*IpPrefix::Parse("127.0.0.1/32"), *IpPrefix::Parse("::1/128")};
  EXPECT_THAT(Get(outside.Image(":1"), options, SecretFor(outside)),
              HasSubstr("nothing may be fetched from"));
  // That of a registry inside may be inside.
  options.inside = {*IpPrefix::Parse("127.0.0.0/8"), *IpPrefix::Parse("::1/128")};
  EXPECT_THAT(Get(outside.Image(":1"), options, SecretFor(outside)),
              Not(HasSubstr("nothing may be fetched from")));
}

TEST_F(WasmAttack, ARealmElsewhereWithoutTlsGetsNothing) {
  FakeRegistry other("127.0.0.2");
  registry_.PutImage("1", kModuleLayer, module_);
  registry_.Want(FakeRegistry::Login::kBearer);
  registry_.SetRealm(StrCat("http://", other.host(), "/token"));
  EXPECT_THAT(Get(registry_.Image(":1"), {}, SecretFor(registry_)), HasSubstr("not over TLS"));
  EXPECT_THAT(other.TakeAsked(), IsEmpty());
}

TEST(ArchiveAttack, NamesAreShort) {
  const std::string file = TarEntry("plugin.wasm", FakeModule("one"));
  const std::string pax = "200010 path=" + std::string(200'010 - 13, 'x') + "\n";
  for (const auto& [type, content] : {std::pair('L', std::string(1 << 20, 'x')), std::pair('x', pax)}) {
    const auto module = Unbox(TarEntry("long", content, type) + file, 10 << 20);
    EXPECT_THAT(std::string(module.status().message()), HasSubstr("too long")) << type;
  }
  EXPECT_TRUE(Unbox(TarEntry("long", std::string(4096, 'x'), 'L') + file, 10 << 20).ok());
}

TEST(ArchiveAttack, SizesBeyondTheArchiveAreCutOff) {
  std::string entry = TarEntry("plugin.wasm", "");
  for (const char* size : {"77777777777", "\x80\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00"}) {
    entry.replace(124, 11, std::string_view(size, 11));
    unsigned sum = 8 * ' ';
    for (size_t i = 0; i < 512; ++i)
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(entry[i]);
    char checksum[8];
    std::snprintf(checksum, sizeof checksum, "%06o", sum);
    entry.replace(148, 7, checksum, 7);
    const auto module = Unbox(entry, 1 << 20);
    EXPECT_FALSE(module.ok());
  }
}

// Millions of members of nothing are 20 bytes each.
TEST(ArchiveAttack, MembersOfNothingEnd) {
  std::string bomb;
  const std::string member = Gzip("");
  while (bomb.size() < 64 << 20) bomb += member;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(Unbox(bomb, 256 << 20).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(ArchiveAttack, ABombInABombIsNotUnpacked) {
  std::string inner = Gzip(std::string(20 << 20, '\0'));
  for (int i = 0; i < 3; ++i) inner = Gzip(inner);
  EXPECT_FALSE(Unbox(inner, 10 << 20).ok());
}

}  // namespace
}  // namespace fairlead::wasm
