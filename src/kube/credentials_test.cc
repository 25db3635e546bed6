#include "kube/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "base/strings.h"
#include "kube/program.h"

namespace fairlead::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Path(std::string_view name) { return StrCat(::testing::TempDir(), "/", name); }

// A program of the shell.
Program Shell(std::string_view script) { return {"/bin/sh", {"-c", std::string(script)}, {}, 10s, 1 << 20}; }

TEST(Program, GivesItsOutput) {
  EXPECT_EQ(*RunProgram(Shell("echo a; echo b >&2")), "a\n");
  Program program = Shell("printf '%s' \"$GIVEN\"");
  program.environment["GIVEN"] = "x y";
  EXPECT_EQ(*RunProgram(program), "x y");
}

TEST(Program, AFailureSaysWhatItWrote) {
  const auto status = RunProgram(Shell("echo no luck >&2; exit 3")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(FromAbsl(status.message()), "/bin/sh: exit status 3: no luck");
  EXPECT_EQ(RunProgram({"/nowhere/login", {}, {}, 10s, 100}).status().code(), absl::StatusCode::kNotFound);
}

TEST(Program, TimeAndOutputAreBounded) {
  Program slow = Shell("sleep 100 & sleep 100");
  slow.time_limit = 200ms;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(RunProgram(slow).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  Program loud = Shell("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done");
  loud.most_output = 10'000;
  EXPECT_EQ(RunProgram(loud).status().code(), absl::StatusCode::kResourceExhausted);
  const std::atomic<bool> stopping{true};
  EXPECT_EQ(RunProgram(Shell("sleep 100"), &stopping).status().code(), absl::StatusCode::kCancelled);
}

TEST(ClientCredentials, FilesAreReadForEachRequest) {
  ServerAccess access;
  access.server = "https://a:1";
  access.certificate_file = Path("c.crt");
  access.key_file = Path("c.key");
  access.token_file = "/token";
  std::ofstream(access.certificate_file) << "C1";
  std::ofstream(access.key_file) << "K1";
  ClientCredentials credentials(access);
  const auto first = credentials.Get("/api/v1/pods?limit=1");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->url, "https://a:1/api/v1/pods?limit=1");
  EXPECT_EQ(first->tls.certificate, "C1");
  EXPECT_EQ(first->bearer_file, "/token");
  std::ofstream(access.certificate_file) << "C2";
  EXPECT_EQ(credentials.Get("/")->tls.certificate, "C2");
  remove(access.key_file.c_str());
  EXPECT_THAT(std::string(FromAbsl(credentials.Get("/").status().message())), HasSubstr("c.key"));
}

ServerAccess Plugin(std::string_view script) {
  ServerAccess access;
  access.server = "https://a";
  access.exec =
      ExecPlugin{"/bin/sh", {"-c", std::string(script)}, {}, "client.authentication.k8s.io/v1", "", true};
  return access;
}

TEST(ClientCredentials, AProgramIsAskedUntilItsAnswerExpires) {
  const std::string count = Path("asked");
  remove(count.c_str());
  const auto answering = [&count](std::string_view expires) {
    return Plugin(StrCat("echo x >> ", count, R"(; echo '{"status":{"token":"t'$(wc -l < )", count,
                         R"()'","expirationTimestamp":")", expires, R"("}}')"));
  };
  ClientCredentials lasting(answering("2999-01-01T00:00:00Z"));
  EXPECT_THAT(lasting.Get("/")->headers, ElementsAre("Authorization: Bearer t1"));
  EXPECT_THAT(lasting.Get("/")->headers, ElementsAre("Authorization: Bearer t1"));
  lasting.OnUnauthorized();
  EXPECT_THAT(lasting.Get("/")->headers, ElementsAre("Authorization: Bearer t1")) << "it was asked just now";
  ClientCredentials expired(answering("2000-01-01T00:00:00Z"));
  EXPECT_THAT(expired.Get("/")->headers, ElementsAre("Authorization: Bearer t2"));
  EXPECT_THAT(expired.Get("/")->headers, ElementsAre("Authorization: Bearer t3"));
}

TEST(ClientCredentials, AProgramMayGiveACertificate) {
  ClientCredentials credentials(
      Plugin(R"(echo '{"status":{"clientCertificateData":"C","clientKeyData":"K"}}')"));
  const auto request = credentials.Get("/");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->tls.certificate, "C");
  EXPECT_EQ(request->tls.key, "K");
}

TEST(ClientCredentials, TheProgramKnowsWhomItIsFor) {
  ClientCredentials credentials(
      Plugin("case $KUBERNETES_EXEC_INFO in *'\"server\":\"https://a\"'*) "
             "echo '{\"status\":{\"token\":\"told\"}}';; esac"));
  EXPECT_THAT(credentials.Get("/")->headers, Contains("Authorization: Bearer told"));
}

TEST(ClientCredentials, WhatAProgramGivesIsChecked) {
  for (const char* answer :
       {"", "no", "{}", "{\"status\":{}}", "{\"status\":{\"clientCertificateData\":\"C\"}}",
        "{\"status\":{\"token\":\"a\\nb\"}}"}) {
    ClientCredentials credentials(Plugin(StrCat("printf '%s' '", answer, "'")));
    EXPECT_EQ(credentials.Get("/").status().code(), absl::StatusCode::kUnavailable) << answer;
  }
  ServerAccess missing = Plugin("");
  missing.exec->command = "/nowhere/login";
  missing.exec->install_hint = "install it";
  EXPECT_THAT(std::string(FromAbsl(ClientCredentials(missing).Get("/").status().message())),
              HasSubstr("install it"));
}

}  // namespace
}  // namespace fairlead::kube
