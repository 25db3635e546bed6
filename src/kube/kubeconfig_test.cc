#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/strings.h"
#include "kube/access.h"

namespace fairlead::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file with one cluster, one user and one context.
std::string File(std::string_view cluster, std::string_view user) {
  return StrCat(
      "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: "
      "u}\n",
      "clusters:\n- name: k\n  cluster: {", cluster, "}\nusers:\n- name: u\n  user: {", user, "}\n");
}

ServerAccess Good(std::string_view cluster, std::string_view user) {
  const auto access = ParseKubeconfig(File(cluster, user), "/etc/kube/config");
  EXPECT_TRUE(access.ok()) << access.status();
  return access.value_or(ServerAccess());
}

std::string Bad(std::string_view text) {
  const auto access = ParseKubeconfig(text, "kc");
  EXPECT_FALSE(access.ok()) << text;
  return std::string(FromAbsl(access.status().message()));
}
std::string Bad(std::string_view cluster, std::string_view user) { return Bad(File(cluster, user)); }

TEST(Kubeconfig, TheCurrentContextSaysClusterAndUser) {
  constexpr char kText[] = R"(
current-context: two
contexts:
- {name: one, context: {cluster: k1, user: u1}}
- {name: two, context: {cluster: k2, user: u2, namespace: n}}
clusters:
- {name: k1, cluster: {server: "https://one:6443"}}
- {name: k2, cluster: {server: "https://two:6443/prefix/"}}
users:
- {name: u1, user: {token: t1}}
- {name: u2, user: {token: t2}}
)";
  const auto access = ParseKubeconfig(kText, "kc");
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->server, "https://two:6443/prefix");
  EXPECT_EQ(access->token, "t2");
  EXPECT_EQ(access->described, "context two of kc");
  EXPECT_EQ(ParseKubeconfig(kText, "kc", "one")->server, "https://one:6443");
}

TEST(Kubeconfig, ServersAreVerifiedAsItSays) {
  const ServerAccess data =
      Good("server: 'https://a', certificate-authority-data: UEVN, tls-server-name: kubernetes", "");
  EXPECT_EQ(data.tls.roots, "PEM");
  EXPECT_EQ(data.tls.server_name, "kubernetes");
  EXPECT_FALSE(data.tls.unverified);
  EXPECT_EQ(data.proxy, std::nullopt);
  const ServerAccess file =
      Good("server: a, certificate-authority: pki/ca.crt, proxy-url: 'http://p:3128'", "");
  EXPECT_EQ(file.server, "https://a");
  EXPECT_EQ(file.tls.roots_file, "/etc/kube/pki/ca.crt");
  EXPECT_EQ(file.proxy, "http://p:3128");
  EXPECT_TRUE(Good("server: 'https://a', insecure-skip-tls-verify: true", "").tls.unverified);
}

TEST(Kubeconfig, UsersProveThemselvesInManyWays) {
  const ServerAccess files = Good("server: a", "client-certificate: c.crt, client-key: /k.key, tokenFile: t");
  EXPECT_EQ(files.certificate_file, "/etc/kube/c.crt");
  EXPECT_EQ(files.key_file, "/k.key");
  EXPECT_EQ(files.token_file, "/etc/kube/t");
  const ServerAccess data =
      Good("server: a", "client-certificate-data: Qw==, client-key-data: Sw==, client-key: unused");
  EXPECT_EQ(data.tls.certificate, "C");
  EXPECT_EQ(data.tls.key, "K");
  EXPECT_EQ(data.key_file, "") << "what is written out counts";
  EXPECT_EQ(Good("server: a", "tokenFile: /t, token: x").token, "") << "the file counts";
  EXPECT_THAT(Good("server: a", "as: alice, as-groups: [g]").headers,
              ElementsAre("Impersonate-User: alice", "Impersonate-Group: g"));
  EXPECT_EQ(Good("server: a", "").token, "");
}

TEST(Kubeconfig, AProgramMayGiveCredentials) {
  const ServerAccess access =
      Good("server: a",
           "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [a, b], "
           "env: [{name: X, value: why}], provideClusterInfo: true, installHint: get it}");
  ASSERT_TRUE(access.exec);
  EXPECT_EQ(access.exec->command, "/etc/kube/./bin/login");
  EXPECT_THAT(access.exec->arguments, ElementsAre("a", "b"));
  EXPECT_EQ(access.exec->environment.at("X"), "why");
  EXPECT_TRUE(access.exec->tell_cluster);
  EXPECT_EQ(Good("server: a", "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login}")
                .exec->command,
            "login");
}

TEST(Kubeconfig, MistakesAreToldWithFileLineAndField) {
  EXPECT_THAT(Bad("{"), HasSubstr("kc:2: "));
  EXPECT_EQ(Bad(""), "kc:1: this is no kubeconfig");
  EXPECT_EQ(Bad("[]"), "kc:1: this is no kubeconfig");
  EXPECT_EQ(Bad("kind: Config"), "kc:1: current-context: no context is chosen");
  EXPECT_EQ(Bad("kind: Config\ncurrent-context: c"), "kc:2: current-context: there is no context \"c\"");
  EXPECT_EQ(Bad("current-context: c\ncontexts: 5"), "kc:2: contexts: expected a list, got integer");
  EXPECT_EQ(Bad("current-context: c\ncontexts:\n- name: c\n  context: {cluster: k}"),
            "kc:4: contexts[0].context.cluster: there is no cluster \"k\"");
  EXPECT_EQ(Bad("current-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n"
                "clusters:\n- {name: k, cluster: {server: a}}"),
            "kc:4: contexts[0].context.user: there is no user \"u\"");
  EXPECT_EQ(Bad("", ""), "kc:9: clusters[0].cluster.server: the cluster has no server");
  EXPECT_EQ(Bad("server: [a]", ""), "kc:9: clusters[0].cluster.server: expected a string, got list");
  EXPECT_EQ(Bad("server: a, insecure-skip-tls-verify: 'x'", ""),
            "kc:9: clusters[0].cluster.insecure-skip-tls-verify: expected a boolean, got string");
  EXPECT_EQ(Bad("server: a, certificate-authority-data: '***'", ""),
            "kc:9: clusters[0].cluster.certificate-authority-data: this is no base64");
  EXPECT_THAT(Bad("server: a, certificate-authority: b, insecure-skip-tls-verify: true", ""),
              HasSubstr("insecure-skip-tls-verify: a certificate authority is given, too"));
  EXPECT_EQ(Bad("server: a", "client-certificate: c"),
            "kc:12: users[0].user: a client certificate has no key");
  EXPECT_EQ(Bad("server: a", "username: u, password: p"),
            "kc:12: users[0].user.username: API servers take no passwords any more");
  EXPECT_EQ(Bad("server: a", "auth-provider: {name: gcp}"),
            "kc:12: users[0].user.auth-provider: this is no longer read by clients of Kubernetes; use exec");
  EXPECT_THAT(Bad("server: a", "exec: {command: x}"),
              HasSubstr("kc:12: users[0].user.exec.apiVersion: expected "));
  EXPECT_THAT(Bad("server: a", "exec: {apiVersion: client.authentication.k8s.io/v1}"),
              HasSubstr("exec.command: the plug-in has no command"));
  EXPECT_THAT(Bad("server: a", "as: \"x\\r\\ny\""), HasSubstr("users[0].user.as: this has a line end"));
}

TEST(Kubeconfig, NothingSecretIsQuoted) {
  for (const char* user :
       {"token: [S3CRET]", "client-key-data: '*S3CRET*'", "password: {a: S3CRET}, username: x"})
    EXPECT_EQ(Bad("server: a", user).find("S3CRET"), std::string::npos) << user;
}

TEST(Kubeconfig, AFileThatIsNotThereIsNamed) {
  const auto access = ReadKubeconfig("/nowhere/kc");
  EXPECT_EQ(access.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(FromAbsl(access.status().message())), HasSubstr("/nowhere/kc"));
}

TEST(InCluster, TheServiceAccountIsUsed) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "/token") << "t";
  std::ofstream(folder + "/ca.crt") << "PEM";
  const auto access = InClusterAccess("10.96.0.1", "443", folder);
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->server, "https://10.96.0.1:443");
  EXPECT_EQ(access->token_file, folder + "/token");
  EXPECT_EQ(access->tls.roots_file, folder + "/ca.crt");
  EXPECT_EQ(InClusterAccess("fd00::1", "443", folder)->server, "https://[fd00::1]:443");
  EXPECT_FALSE(InClusterAccess("10.96.0.1", "", folder).ok());
  EXPECT_THAT(std::string(FromAbsl(InClusterAccess("10.96.0.1", "443", "/nowhere").status().message())),
              HasSubstr("/nowhere/token"));
}

std::string Untrusted(std::string_view user, const std::set<std::string, std::less<>>& accepted = {}) {
  const auto access = ParseUntrustedKubeconfig(File("server: 'https://a'", user), "Secret s/k", accepted);
  return access.ok() ? "" : std::string(FromAbsl(access.status().message()));
}

TEST(UntrustedKubeconfig, WhatItSaysItselfIsAccepted) {
  EXPECT_EQ(Untrusted("token: t"), "");
  EXPECT_EQ(Untrusted("client-certificate-data: UEVN, client-key-data: UEVN"), "");
  EXPECT_EQ(Untrusted("token: t, as: jane, as-groups: [dev]"), "");
  EXPECT_EQ(Untrusted("token: t, tokenFile: '', exec: null"), "");
}

TEST(UntrustedKubeconfig, FilesAndProgramsOfThisMachineAreNotTouched) {
  EXPECT_THAT(Untrusted("tokenFile: /etc/passwd"),
              HasSubstr("Secret s/k:12: users[0].user.tokenFile: this is not accepted"));
  EXPECT_THAT(Untrusted("exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1}"),
              HasSubstr("users[0].user.exec: this is not accepted"));
  EXPECT_THAT(Untrusted("client-certificate: c, client-key-data: UEVN"),
              HasSubstr("users[0].user.client-certificate: this is not accepted"));
  EXPECT_THAT(Untrusted("client-certificate-data: UEVN, client-key: k"),
              HasSubstr("users[0].user.client-key: this is not accepted"));
  EXPECT_THAT(Untrusted("token: t}\n- name: other\n  user: {exec: {command: x}"),
              HasSubstr("users[1].user.exec: this is not accepted"))
      << "of another user, too";
}

TEST(UntrustedKubeconfig, OptionsAcceptMore) {
  EXPECT_EQ(Untrusted("tokenFile: token", {"tokenFile"}), "");
  EXPECT_EQ(Untrusted("exec: {command: c, apiVersion: client.authentication.k8s.io/v1}", {"exec"}), "");
  EXPECT_EQ(Untrusted("client-certificate: c, client-key: k", {"clientCertificate", "clientKey"}), "");
  EXPECT_THAT(Untrusted("client-certificate: c, client-key: k", {"clientCertificate"}),
              HasSubstr("client-key"));
  const auto access =
      ParseUntrustedKubeconfig(File("server: 'https://a'", "tokenFile: t"), "Secret s/k", {"tokenFile"});
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access->token_file, "t") << "relative to the working folder, not to the Secret's name";
}

TEST(UntrustedKubeconfig, OtherMistakesNameThePlace) {
  const auto bad = ParseUntrustedKubeconfig("5", "Secret s/k", {});
  EXPECT_THAT(FromAbsl(bad.status().message()), HasSubstr("Secret s/k:1: "));
  const auto none = ParseUntrustedKubeconfig("current-context: c", "Secret s/k", {});
  EXPECT_THAT(FromAbsl(none.status().message()), HasSubstr("there is no context \"c\""));
}

}  // namespace
}  // namespace fairlead::kube
