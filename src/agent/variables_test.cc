#include "agent/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "agent/bootstrap/grpc_bootstrap.h"
#include "agent/certificates.h"
#include "agent/options.h"
#include "agent/proofs.h"
#include "base/files.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

absl::StatusOr<Options> Read(Environment environment) {
  environment.try_emplace("CLOUD_PLATFORM", "none");
  return ReadOptions({"sidecar"}, environment);
}

std::string Error(const Environment& environment) {
  return std::string(Read(environment).status().message());
}

TEST(AgentVariables, HeadersGoToTheirServers) {
  const auto options =
      Read({{"CA_HEADER_X-Tenant", "blue"}, {"XDS_HEADER_x_region", "north"}, {"CA_ADDR", "ca.example:443"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->ca_headers, ElementsAre(Pair("x-tenant", "blue")));
  EXPECT_THAT(options->xds_headers, ElementsAre(Pair("x_region", "north")));
  EXPECT_THAT(DiscoveryOf(*options).headers, ElementsAre(Pair("x_region", "north")));
  EXPECT_THAT(Error({{"CA_HEADER_a b", "x"}}), HasSubstr("CA_HEADER_a b: 'a b' is no name of a header"));
  EXPECT_THAT(Error({{"XDS_HEADER_a", "x\ny"}}), HasSubstr("XDS_HEADER_a"));
  EXPECT_THAT(Error({{"XDS_HEADER_a", std::string(5'000, 'x')}}), HasSubstr("more than 4096 bytes"));
}

TEST(AgentVariables, KeysHaveAFormAndACurve) {
  auto options = Read({{"ECC_SIGNATURE_ALGORITHM", "ECDSA"}, {"ECC_CURVE", "P384"}, {"PKCS8_KEY", "true"}});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->ecdsa && options->p384 && options->pkcs8);
  options = Read({{"ECC_SIGNATURE_ALGORITHM", "DSA"}, {"ECC_CURVE", "P521"}});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->ecdsa || options->p384 || options->pkcs8);
  EXPECT_THAT(options->remarks, Contains(HasSubstr("ECC_SIGNATURE_ALGORITHM: 'DSA'")));
  EXPECT_THAT(options->remarks, Contains(HasSubstr("ECC_CURVE: 'P521'")));
}

TEST(AgentVariables, RootsAreFoundAsIstiosAgentFindsThem) {
  auto options = Read({});
  EXPECT_EQ(options->roots_file, "./var/run/secrets/istio/root-cert.pem");
  EXPECT_EQ(options->ca_roots_file, options->roots_file);
  options = Read({{"XDS_ROOT_CA", "SYSTEM"}, {"CA_ROOT_CA", "/ca.pem"}});
  EXPECT_EQ(options->roots_file, "SYSTEM");
  EXPECT_TRUE(options->own_roots_file);
  EXPECT_EQ(options->ca_roots_file, "/ca.pem");
  options = Read({{"PROV_CERT", "/etc/certs"}});
  EXPECT_EQ(options->roots_file, "/etc/certs/root-cert.pem");
  options = Read({{"PILOT_CERT_PROVIDER", "custom"}});
  EXPECT_EQ(options->roots_file, "./etc/certs/root-cert.pem");
  options = Read({{"FILE_MOUNTED_CERTS", "true"},
                  {"PROXY_CONFIG", "proxyMetadata: {ISTIO_META_TLS_CLIENT_ROOT_CERT: /own/root.pem}"}});
  EXPECT_EQ(options->roots_file, "/own/root.pem");
  EXPECT_THAT(Error({{"PILOT_CERT_PROVIDER", "none"}, {"CA_ADDR", "a:1"}}), HasSubstr("XDS_ROOT_CA"));
}

TEST(AgentVariables, ProvidersThatDoNotExistEndTheAgent) {
  EXPECT_THAT(Error({{"CREDENTIAL_FETCHER_TYPE", "Carrier"}}),
              HasSubstr("CREDENTIAL_FETCHER_TYPE: 'Carrier'"));
  EXPECT_THAT(Error({{"CA_PROVIDER", "GoogleCAS"}}), HasSubstr("CA_PROVIDER: 'GoogleCAS'"));
  EXPECT_THAT(Error({{"PROV_CERT", "/x"}, {"FILE_MOUNTED_CERTS", "true"}}), HasSubstr("PROV_CERT"));
  const auto google = Read({{"CREDENTIAL_FETCHER_TYPE", "GoogleComputeEngine"}});
  EXPECT_TRUE(google.ok() && google->google_token);
}

TEST(AgentVariables, WhatIsNotActedOnIsSaid) {
  auto options = Read({{"XDS_AUTH_PROVIDER", "gcp"}, {"JWT_POLICY", "third-party-jwt"}});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options->remarks, Contains(HasSubstr("XDS_AUTH_PROVIDER: without meaning here: ")));
  EXPECT_THAT(options->remarks, Not(Contains(HasSubstr("JWT_POLICY")))) << "the default is no news";
}

TEST(AgentVariables, CredentialsOfImagesAreInTheHomeFolderUnlessSaid) {
  const auto file = [](const Environment& environment) {
    const auto options = Read(environment);
    return options.ok() ? options->modules.download.docker_config : "";
  };
  EXPECT_EQ(file({{"HOME", "/home/web"}}), "/home/web/.docker/config.json");
  EXPECT_EQ(file({{"HOME", "/home/web"}, {"DOCKER_CONFIG", "/docker"}}), "/docker/config.json");
  EXPECT_EQ(file({}), "");
}

TEST(AgentVariables, ProbesOfHttpsMayBeHttp2UnlessSaid) {
  EXPECT_TRUE(Read({})->http2_probes);
  EXPECT_FALSE(Read({{"ISTIO_ENABLE_HTTP2_PROBING", "false"}})->http2_probes);
}

class FilesTest : public testing::Test {
 protected:
  FilesTest() { EXPECT_TRUE(CreateFolders(folder_).ok()); }
  ~FilesTest() override { std::system(("rm -rf " + folder_).c_str()); }
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WritePrivateFile(StrCat(folder_, "/", name), text).ok());
    return StrCat(folder_, "/", name);
  }
  const std::string folder_ = StrCat("/tmp/agent-files-", getpid());
};

TEST_F(FilesTest, AnApplicationWithoutEnvoyGetsItsFile) {
  auto options = Read({{"DISABLE_ENVOY", "true"},
                       {"GRPC_XDS_BOOTSTRAP", folder_ + "/grpc/bootstrap.json"},
                       {"OUTPUT_CERTS", folder_ + "/certs"}});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(WantsGrpcBootstrap(*options));
  options->relay_socket = "/run/proxy/XDS";
  const nlohmann::json bootstrap = BuildGrpcBootstrap(*options);
  EXPECT_EQ(bootstrap["xds_servers"][0]["server_uri"], "unix:///run/proxy/XDS");
  EXPECT_EQ(bootstrap["server_listener_resource_name_template"], "xds.istio.io/grpc/lds/inbound/%s");
  EXPECT_EQ(bootstrap["certificate_providers"]["default"]["config"]["private_key_file"],
            folder_ + "/certs/key.pem");
  EXPECT_FALSE(CheckGrpcFiles(*options).ok());
  ASSERT_TRUE(WriteGrpcBootstrap(*options).ok());
  EXPECT_THAT(CheckGrpcFiles(*options).ToString(), HasSubstr("cert-chain.pem is not there yet"));
  EXPECT_TRUE(CreateFolders(folder_ + "/certs").ok());
  for (const char* name : {"certs/cert-chain.pem", "certs/key.pem", "certs/root-cert.pem"}) Write(name, "x");
  EXPECT_TRUE(CheckGrpcFiles(*options).ok());
  options = Read({{"GRPC_XDS_BOOTSTRAP", ""}});
  EXPECT_FALSE(WantsGrpcBootstrap(*options));
}

TEST_F(FilesTest, ProofsOfACertificateHaveHeadersAndFurtherRoots) {
  ControlPlaneOptions plane;
  plane.roots_file = Write("roots", "more\n");
  plane.token_file = Write("token", "secret\n");
  plane.cluster_id = "east";
  plane.headers = {{"x-a", "b"}};
  Proofs proofs = ProofsOfCertificate(plane, {"chain", "key", ""}, "roots", /*with_token=*/false);
  EXPECT_EQ(proofs.roots, "roots\nmore\n");
  EXPECT_THAT(proofs.metadata, ElementsAre(Pair("clusterid", "east"), Pair("x-a", "b")));
  proofs = ProofsOfCertificate(plane, {"chain", "key", ""}, "roots", /*with_token=*/true);
  EXPECT_THAT(proofs.metadata, Contains(Pair("authorization", "Bearer secret")));
  plane.plaintext = true;
  plane.roots_file = "/no/such/file";
  EXPECT_TRUE(ReadProofs(plane, {}).ok()) << "plaintext needs no roots";
}

}  // namespace
}  // namespace fairlead::agent
