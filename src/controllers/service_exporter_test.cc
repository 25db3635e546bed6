#include "controllers/service_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "config/read/json_reader.h"
#include "config/read/stored_object.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::controllers {
namespace {

using namespace std::chrono_literals;
using config::Kind;
using ::testing::HasSubstr;

constexpr char kServices[] = "/api/v1/services";
constexpr char kExports[] = "/apis/multicluster.x-k8s.io/v1alpha1/serviceexports";

class ServiceExporterTest : public ::testing::Test {
 protected:
  ServiceExporterTest() {
    server_.Serve(kServices);
    kube::ServerAccess access;
    access.server = server_.url();
    access.proxy = "";
    writer_ = std::make_unique<kube::ApiWriter>(
        kube::ApiWriter::Options{.first_backoff = 5ms, .most_backoff = 20ms}, access, &client_);
    options_.leads = [this] { return leads_.load(); };
    options_.objects = [this] {
      std::lock_guard lock(mutex_);
      return objects_;
    };
    options_.cluster_local = [](const config::ConfigObject& service) {
      return service.ns() == "kube-system";
    };
    options_.quiet = 5ms;
    options_.pause = 50ms;
    exporter_ = std::make_unique<ServiceExporter>(options_, writer_.get());
  }
  ~ServiceExporterTest() override { writer_->Stop(); }
  void Add(const std::string& ns, const std::string& name) {
    server_.Put(kServices, ns, name, R"("spec":{"clusterIP":"10.0.0.1","ports":[{"port":80}]})");
    config::JsonReader reader;
    const auto tree = reader.Read(server_.Get(kServices, ns, name));
    const config::StoredObject stored =
        config::ReadStored(config::InfoOf(Kind::kService), "v1", tree->root());
    Apply({*stored.key, stored.object});
  }
  void Apply(const config::ObjectChange& change) {
    {
      std::lock_guard lock(mutex_);
      objects_.Apply({&change, 1});
    }
    exporter_->OnPublished();
  }
  bool IsExported(const std::string& ns, const std::string& name) {
    return Eventually([&] { return !server_.Get(kExports, ns, name).empty(); });
  }
  size_t Writes() { return server_.CountRequests("POST"); }

  source::ApiServerFake server_;
  fetch::Client client_;
  std::mutex mutex_;
  config::ObjectStore objects_;
  std::atomic<bool> leads_{true};
  ServiceExporter::Options options_;
  std::unique_ptr<kube::ApiWriter> writer_;
  std::unique_ptr<ServiceExporter> exporter_;
};

TEST_F(ServiceExporterTest, EachServiceIsExportedOnceAndOwnsItsExport) {
  server_.Serve(kExports);
  Add("shop", "web");
  ASSERT_TRUE(IsExported("shop", "web"));
  EXPECT_THAT(server_.Get(kExports, "shop", "web"), HasSubstr(R"("ownerReferences")"));
  server_.Delete(kExports, "shop", "web");
  Add("shop", "other");
  ASSERT_TRUE(IsExported("shop", "other"));
  EXPECT_EQ(Writes(), 2u) << "one that somebody deleted is not made again";
}

TEST_F(ServiceExporterTest, ServicesOfTheClusterAloneAreNot) {
  server_.Serve(kExports);
  Add("kube-system", "dns");
  Add("shop", "web");
  ASSERT_TRUE(IsExported("shop", "web"));
  EXPECT_EQ(Writes(), 1u);
}

TEST_F(ServiceExporterTest, WhoDoesNotLeadWritesNothing) {
  server_.Serve(kExports);
  leads_ = false;
  Add("shop", "web");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(Writes(), 0u);
  leads_ = true;
  writer_->Run([this] { exporter_->OnLeading(); });
  EXPECT_TRUE(IsExported("shop", "web"));
}

TEST_F(ServiceExporterTest, AServerWithoutTheKindIsAskedAgainLater) {
  Add("shop", "web");
  ASSERT_TRUE(Eventually([&] { return Writes() == 1; }));
  server_.Serve(kExports);
  EXPECT_TRUE(Eventually([&] {
    exporter_->OnPublished();
    return !server_.Get(kExports, "shop", "web").empty();
  }));
}

}  // namespace
}  // namespace fairlead::controllers
