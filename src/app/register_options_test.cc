#include "app/register_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/strings.h"
#include "source/file/source_fake.h"

namespace fairlead::app {
namespace {

using ::testing::HasSubstr;

std::string Why(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--address", "10.0.0.1"});
  return std::string(ReadRegisterOptions(arguments).status().message());
}

TEST(RegisterOptionsTest, ProbesAreWordsOfOneForm) {
  const auto text = [](std::string_view probe) {
    const auto read = ReadProbe(probe);
    return read ? JsonText(*read) : "none";
  };
  EXPECT_EQ(text("http://:8080/healthz"), R"({"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"}})");
  EXPECT_EQ(text("https://db:8443"), R"({"httpGet":{"host":"db","path":"/","port":8443,"scheme":"HTTPS"}})");
  EXPECT_EQ(text("tcp://:5432"), R"({"tcpSocket":{"port":5432}})");
  EXPECT_EQ(text("grpc://:9000/shop"), R"({"grpc":{"port":9000,"service":"shop"}})");
  EXPECT_EQ(text("exec:test -e /ready"), R"({"exec":{"command":["/bin/sh","-c","test -e /ready"]}})");
  for (const char* wrong :
       {"", "8080", "http://", "http://x", "tcp://:0", "tcp://:80/x", "ftp://:80", "exec: "})
    EXPECT_EQ(text(wrong), "none") << wrong;
}

TEST(RegisterOptionsTest, TheNodeRegistersTheWorkload) {
  const auto options = ReadRegisterOptions(
      {"vms", "-n", "shop", "--address", "10.0.0.1", "-l", "app=db", "-l", "v=2", "--network", "n",
       "--locality", "r/z", "--serviceAccount", "vm", "--probe", "tcp://:5432", "--periodSeconds", "3"});
  ASSERT_TRUE(options.ok()) << options.status();
  const nlohmann::json node = RegisterNode(*options);
  EXPECT_EQ(node["id"], "sidecar~10.0.0.1~vms-10.0.0.1.shop~shop.svc.cluster.local");
  const nlohmann::json& metadata = node["metadata"];
  EXPECT_EQ(metadata["AUTO_REGISTER_GROUP"], "vms");
  EXPECT_EQ(metadata["NAMESPACE"], "shop");
  EXPECT_EQ(metadata["NETWORK"], "n");
  EXPECT_EQ(metadata["SERVICE_ACCOUNT"], "vm");
  EXPECT_EQ(JsonText(metadata["LABELS"]), R"({"app":"db","security.istio.io/tlsMode":"disabled","v":"2"})");
  EXPECT_EQ(JsonText(metadata["PROXY_CONFIG"]),
            R"({"readinessProbe":{"periodSeconds":3,"tcpSocket":{"port":5432}}})");
  EXPECT_EQ(JsonText(node["locality"]), R"({"region":"r","zone":"z"})");
}

TEST(RegisterOptionsTest, AGroupsFileSaysWhatWordsDoNot) {
  const source::TestFolder folder;
  folder.Write("group.yaml", R"(
apiVersion: networking.istio.io/v1
kind: WorkloadGroup
metadata: {name: vms, namespace: shop}
spec:
  template: {serviceAccount: vm}
  probe: {httpGet: {port: 8000, path: /ready}, periodSeconds: 1}
)");
  const auto options = ReadRegisterOptions({"-f", folder / "group.yaml", "--address", "10.0.0.1"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->group, "vms");
  EXPECT_EQ(options->ns, "shop");
  EXPECT_EQ(options->service_account, "vm");
  EXPECT_EQ(JsonText(options->probe), R"({"httpGet":{"path":"/ready","port":8000},"periodSeconds":1})");
  EXPECT_THAT(Why({"others", "-f", folder / "group.yaml"}), HasSubstr("has no such WorkloadGroup"));
}

TEST(RegisterOptionsTest, MistakesAreNamed) {
  EXPECT_THAT(Why({}), HasSubstr("a WorkloadGroup is needed"));
  EXPECT_THAT(Why({"Vms"}), HasSubstr("is no name of a WorkloadGroup"));
  EXPECT_THAT(Why({"vms", "-l", "app"}), HasSubstr("is no KEY=VALUE"));
  EXPECT_THAT(Why({"vms", "--probe", "8080"}), HasSubstr("is no probe, like http://:8080/healthz"));
  EXPECT_THAT(Why({"vms", "--periodSeconds", "3"}), HasSubstr("--periodSeconds needs a probe"));
  EXPECT_THAT(Why({"vms", "--drain", "5"}), HasSubstr("is no duration"));
  EXPECT_THAT(Why({"vms", "-f", "/no/such/file"}), HasSubstr("/no/such/file"));
  EXPECT_THAT(std::string(ReadRegisterOptions({"vms", "--address", "here"}).status().message()),
              HasSubstr("is no IP address"));
}

TEST(RegisterOptionsTest, MarksTellGroupsAndAddressesApart) {
  EXPECT_TRUE(RegisterMark("shop", "vms", "10.0.0.1").starts_with(RegisterMark("shop", "vms", "")));
  EXPECT_FALSE(RegisterMark("shop", "vms-b", "10.0.0.1").starts_with(RegisterMark("shop", "vms", "")));
}

}  // namespace
}  // namespace fairlead::app
