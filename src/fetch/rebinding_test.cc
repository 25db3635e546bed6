#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/strings.h"
#include "fetch/web_request.h"

// A name whose owner changes its mind between two look-ups: what it meant before says nothing.
namespace fairlead::fetch {
namespace {

constexpr char kName[] = "rebinding.test";
std::atomic<const char*> meant{"127.0.0.2"};

}  // namespace
}  // namespace fairlead::fetch

// In place of the C library's for this program, libcurl included.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool ours = node != nullptr && std::strcmp(node, fairlead::fetch::kName) == 0;
  return real(ours ? fairlead::fetch::meant.load() : node, service, hints, found);
}

namespace fairlead::fetch {
namespace {

TEST(Rebinding, TheAddressThatIsConnectedToCounts) {
  httplib::Server server;
  std::atomic<int> asked{0};
  server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    ++asked;
    response.set_content("here", "text/plain");
  });
  const int port = server.bind_to_any_port("0.0.0.0");
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const BlockedAddresses blocked({*IpPrefix::Parse("127.0.0.1/32")});
  const WebRequest request{
      .url = StrCat("http://", kName, ":", port, "/"), .plaintext = true, .blocked = &blocked};
  const auto before = Ask(request);
  EXPECT_TRUE(before.ok()) << before.status();
  if (before.ok()) {
    EXPECT_EQ(before->address, "127.0.0.2");
  }
  for (const char* address : {"127.0.0.1", "0.0.0.0", "169.254.169.254"}) {
    meant = address;
    const auto after = Ask(request);
    EXPECT_TRUE(absl::IsPermissionDenied(after.status())) << address << ": " << after.status();
  }
  EXPECT_EQ(asked, 1);
  server.stop();
  thread.join();
}

}  // namespace
}  // namespace fairlead::fetch
