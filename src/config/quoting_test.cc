#include "config/quoting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"

// That messages tell no Secret, however it is written down.
namespace fairlead::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLine[] = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
constexpr char kHead[] =
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\ntype: kubernetes.io/tls\n";

std::string Said(std::string_view text) {
  std::string said;
  for (const Diagnostic& one : ParseManifests(text, "f").diagnostics) StrAppend(&said, ToText(one), "\n");
  return said;
}

TEST(QuotingTest, NoFormOfASecretIsTold) {
  const std::string lines = StrCat("    ", kLine, "\n");
  for (const std::string& text : std::vector<std::string>{
           StrCat(kHead, "data: {tls.key: ", kLine, "!}\n"),
           StrCat(kHead, "stringData:\n  tls.key: |\n", kLine, "\n"),
           StrCat(kHead, "stringData: {", kLine, ": {a: x}}\n"),
           StrCat(kHead, kLine, ": x\n"),
           StrCat(kHead, "metadata: {name: s}\n", kLine, ": x\n", kLine, ": y\n"),
           StrCat(kHead, "data: {", kLine, ": YQ==, ", kLine, ": YQ==}\n"),
           StrCat(kHead, "data: ", kLine, "\n"),
           StrCat(kHead, "data: [", kLine, "]\n"),
           StrCat(kHead, "data: {tls.crt: [", kLine, "]}\n"),
           StrCat(kHead, "data: {tls.key: *", kLine, "}\n"),
           StrCat(kHead, "data: {tls.key: &", kLine, " [*", kLine, "]}\n"),
           StrCat(kHead, "data: {tls.key: !!int ", kLine, "}\n"),
           StrCat(kHead, "data: {tls.key: !!binary \"", kLine, "!\"}\n"),
           StrCat(kHead, "immutable: ", kLine, "\n"),
           StrCat("apiVersion: v1\nkind: Secret\nmetadata: {name: ", kLine, "}\n"),
           StrCat("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ", kLine, "}\n"),
           StrCat("apiVersion: v1\nkind: Secret\nmetadata: {labels: [", kLine, "]}\n"),
           StrCat("apiVersion: v1\nkind: Secret\nmetadata: {name: s, ", kLine, ": x, generation: ", kLine,
                  "}\n"),
           StrCat("apiVersion: v1\nkind: ", kLine, "\nmetadata: {name: s}\n"),
           StrCat("apiVersion: ", kLine, "\nkind: Secret\nmetadata: {name: s}\n"),
           StrCat("apiVersion: v1\nkind: SecretList\nitems: [{", kLine, ": x, ", kLine, ": y}]\n"),
           StrCat("apiVersion: v1\nmetadata: {name: ", kLine, "}\ndata: {a: ", kLine, "}\n"),
           StrCat(kLine, ": {", kLine, ": !!int ", kLine, "}\n"),
           StrCat("- ", kLine, "\n"),
           StrCat("{", kLine, "\n")}) {
    const std::string said = Said(text);
    EXPECT_THAT(said, Not(HasSubstr("MIIE"))) << text;
    EXPECT_NE(said, "") << text;
  }
}

TEST(QuotingTest, ASecretsMistakeHasItsPlace) {
  EXPECT_EQ(Said(StrCat(kHead, "data:\n  tls.crt: YQ==\n  tls.key: '*'\n")),
            "f:7: error: Secret a/s: data[tls.key]: the text is not base64 (wrong-base64)\n");
  EXPECT_EQ(Said(StrCat(kHead, "data:\n  mine: [x]\n")),
            "f:6: error: Secret a/s: data: expected a string, got list (wrong-type)\n");
  EXPECT_EQ(Said(StrCat(kHead, "dta: {}\n")),
            "f:5: error: Secret a/s: unknown field; did you mean \"data\"? (unknown-field)\n");
  EXPECT_EQ(Said("apiVersion: v1\nkind: Secret\nmetadata: {name: S}\n"),
            StrCat("f:1: error: metadata.name: ", kNoSecretName, " (invalid-value)\n"));
}

TEST(QuotingTest, OtherKindsAreQuoted) {
  EXPECT_THAT(Said("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: soon}\n"),
              HasSubstr("got string \"soon\""));
}

TEST(QuotingTest, Paths) {
  EXPECT_EQ(ShownPath("metadata.labels[app]"), "metadata.labels");
  EXPECT_EQ(ShownPath("data[tls.key]"), "data[tls.key]");
  EXPECT_EQ(ShownPath("data.secret-of-mine"), "data");
  EXPECT_EQ(ShownPath("items[12].data"), "items[12].data");
  EXPECT_EQ(ShownPath("items[12345678]"), "items");
  EXPECT_EQ(ShownPath("[data"), "");
  EXPECT_EQ(ShownPath(""), "");
}

TEST(QuotingTest, KindsAndVersions) {
  EXPECT_EQ(ShownKind("AuthorisationPolicy"), "AuthorisationPolicy");
  EXPECT_EQ(ShownKind("EC2Instance"), "EC2Instance");
  EXPECT_EQ(ShownKind("a b"), "(no kind)");
  EXPECT_EQ(ShownKind("a1b2c3d4e5"), "(no kind)");
  EXPECT_EQ(ShownApiVersion("networking.istio.io/v1"), "networking.istio.io/v1");
  EXPECT_EQ(ShownApiVersion("Networking"), "(no version)");
}

}  // namespace
}  // namespace fairlead::config
