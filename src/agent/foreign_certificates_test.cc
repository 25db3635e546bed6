#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "agent/certificates.h"
#include "agent/options.h"
#include "base/files.h"
#include "base/strings.h"
#include "ca/authority.h"
#include "ca/certificate.h"
#include "ca/issue.h"
#include "ca/key.h"

// Certificates that somebody else provides: in files, or over a socket.
namespace fairlead::agent {
namespace {

class ForeignCertificatesTest : public testing::Test {
 protected:
  ForeignCertificatesTest() {
    options_.secret_socket = folder_ + "/workload/socket";
    options_.file_secret_socket = folder_ + "/credential/files-socket";
    options_.credential_socket = folder_ + "/credential/socket";
    options_.spiffe_certificates = folder_ + "/spiffe";
    options_.mounted_certificates = folder_ + "/mounted";
    options_.crl_file = folder_ + "/crl";
  }
  ~ForeignCertificatesTest() override { std::system(("rm -rf " + folder_).c_str()); }
  // A pair with its root; a root's own, for simplicity.
  void Write(const std::string& folder, const char* chain, const char* key, const char* roots) {
    const ca::KeyPtr pair = *ca::MakeKey(ca::KeyType::kEcdsaP256);
    const std::string certificate =
        ca::CertificatePem(*ca::MakeRoot(pair, "cluster.local", ca::UnixNow() - 60, ca::UnixNow() + 3600));
    EXPECT_TRUE(CreateFolders(folder).ok());
    EXPECT_TRUE(WritePrivateFile(StrCat(folder, "/", chain), certificate).ok());
    EXPECT_TRUE(WritePrivateFile(StrCat(folder, "/", key), ca::PrivateKeyPem(pair)).ok());
    EXPECT_TRUE(WritePrivateFile(StrCat(folder, "/", roots), certificate).ok());
  }
  static bool Has(Certificates* certificates) {
    for (int i = 0; i < 100 && !certificates->store()->Get("default"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return certificates->store()->Get("default") && certificates->store()->Get("ROOTCA");
  }
  // A socket that somebody listens on.
  int Listen(const std::string& path) {
    EXPECT_TRUE(CreateFolders(path.substr(0, path.rfind('/'))).ok());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(file, 8), 0);
    return file;
  }
  const std::string folder_ = StrCat("/tmp/foreign-", getpid());
  Options options_;
};

TEST_F(ForeignCertificatesTest, FilesOfASpiffeAgentCountWhereAllAreThere) {
  Write(options_.spiffe_certificates, "cert-chain.pem", "key.pem", "root-cert.pem");
  EXPECT_TRUE(HasCertificates(options_));
  {
    Certificates certificates(options_);
    ASSERT_TRUE(certificates.Start().ok());
    EXPECT_TRUE(Has(&certificates));
  }
  EXPECT_TRUE(RemoveFile(options_.spiffe_certificates + "/root-cert.pem").ok());
  EXPECT_FALSE(HasCertificates(options_));
}

TEST_F(ForeignCertificatesTest, GooglesClustersNameThemOtherwise) {
  Write(options_.spiffe_certificates, "certificates.pem", "private_key.pem", "ca_certificates.pem");
  EXPECT_FALSE(HasCertificates(options_));
  options_.gke_certificates = options_.only_mounted = true;
  Certificates certificates(options_);
  ASSERT_TRUE(certificates.Start().ok());
  EXPECT_TRUE(Has(&certificates));
}

TEST_F(ForeignCertificatesTest, TheAgentsOwnFilesAreNotTakenForMountedOnes) {
  Write(options_.mounted_certificates, "cert-chain.pem", "key.pem", "root-cert.pem");
  EXPECT_TRUE(HasCertificates(options_));
  options_.certificate_folder = options_.mounted_certificates + "/.";
  EXPECT_FALSE(HasCertificates(options_)) << "they would never be renewed";
}

TEST_F(ForeignCertificatesTest, BesideAnotherAgentsSocketFilesHaveOneOfTheirOwn) {
  NoteSockets(&options_);
  EXPECT_FALSE(options_.metadata.contains("file-credential"));
  const int workload = Listen(options_.secret_socket), credentials = Listen(options_.credential_socket);
  NoteSockets(&options_);
  EXPECT_EQ(options_.metadata["file-credential"], "true");
  EXPECT_EQ(options_.metadata["credential"], "true");
  {
    Certificates certificates(options_);
    ASSERT_TRUE(certificates.Start().ok());
    EXPECT_EQ(access(options_.file_secret_socket.c_str(), F_OK), 0);
    EXPECT_THAT(certificates.Difficulties(), testing::IsEmpty());
  }
  close(workload);
  close(credentials);
}

}  // namespace
}  // namespace fairlead::agent
