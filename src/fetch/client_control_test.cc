#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/strings.h"
#include "fetch/client.h"
#include "fetch/observer_fake.h"
#include "fetch/raw_server_fake.h"

// What observers and their owners do to exchanges: pauses, cancels, ends; and rest.
namespace fairlead::fetch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ClientControl, AnObserverHoldsTheServerUp) {
  constexpr size_t kSize = 64 << 20;
  std::atomic<size_t> sent{0};
  RawServerFake server([&](int connection, Stopping stopping) {
    RawServerFake::ReadRequest(connection);
    Send(connection, StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", kSize, "\r\n\r\n"));
    const std::string part(64 << 10, 'x');
    while (sent < kSize && !stopping) {
      const ssize_t got = send(connection, part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (got > 0) sent += static_cast<size_t>(got);
      if (got < 0) std::this_thread::sleep_for(milliseconds(1));
    }
  });
  ObserverFake observer;
  Client client;
  std::atomic<Client::Handle> handle{0};
  std::atomic<bool> once{true};
  observer.on_data = [&] {
    if (once.exchange(false)) client.Pause(handle);
  };
  Request request{
      .url = server.Url("/"), .idle_limit = seconds(1), .most_bytes = kSize, .most_held = 100'000};
  ObserverFake starter;  // a callback, so that the handle is there before the first byte
  starter.on_done = [&] { handle = client.Start(request, &observer); };
  client.Start({.url = "nonsense"}, &starter);
  EXPECT_TRUE(observer.Until([](const auto& self) { return !self.data().empty(); }));
  size_t before = 0;
  do {  // until it stands still
    before = sent;
    std::this_thread::sleep_for(milliseconds(1200));  // longer than the idle limit
  } while (sent != before);
  EXPECT_LT(before, kSize / 2);
  EXPECT_LE(observer.data().size(), 16384u);
  EXPECT_FALSE(observer.outcome());
  client.Resume(handle);
  EXPECT_TRUE(observer.Done().status.ok()) << observer.Done().status;
  EXPECT_EQ(observer.data().size(), kSize);
}

TEST(ClientControl, AnEndWaitsForOneThatPauses) {
  RawServerFake server(RawServerFake::Answering(Ok("all of it")));
  ObserverFake observer;
  Client client;
  std::atomic<Client::Handle> handle{0};
  ObserverFake starter;
  starter.on_done = [&] {
    handle = client.Start({.url = server.Url("/")}, &observer);
    client.Pause(handle);
  };
  client.Start({.url = "nonsense"}, &starter);
  EXPECT_TRUE(observer.Until([](const auto& self) { return self.status() == 200; }));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(observer.data(), "");
  EXPECT_FALSE(observer.outcome());
  client.Resume(handle);
  EXPECT_TRUE(observer.Done().status.ok());
  EXPECT_EQ(observer.data(), "all of it");
}

TEST(ClientControl, CancelInEachState) {
  RawServerFake server([](int connection, Stopping stopping) {
    const std::string request = RawServerFake::ReadRequest(connection);
    if (request.find("/silent") == std::string::npos) Send(connection, kChunked);
    if (request.find("/data") != std::string::npos) Send(connection, Chunk("x"));
    while (request.find("/flood") != std::string::npos && !stopping) {
      const std::string flood = Chunk(std::string(10'000, 'x'));
      if (send(connection, flood.data(), flood.size(), MSG_NOSIGNAL) < 0) return;
    }
    Linger(stopping);
  });
  Client client;
  const auto cancelled = [&](Request request, const std::function<bool(const ObserverFake&)>& when,
                             bool may_have_ended = false) {
    auto observer = std::make_unique<ObserverFake>();
    request.most_bytes = Request::kUnlimited;
    const Client::Handle handle = client.Start(std::move(request), observer.get());
    EXPECT_TRUE(observer->Until(when));
    client.Cancel(handle);
    const int calls = observer->calls();
    std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(observer->calls(), calls);
    EXPECT_TRUE(may_have_ended || !observer->outcome());
    observer.reset();  // nothing is called any more, or the sanitizers see it
    client.Cancel(handle);
    client.Resume(handle);
  };
  const auto at_once = [](const ObserverFake&) { return true; };
  cancelled({.url = server.Url("/silent")}, at_once);
  cancelled({.url = "http://127.0.0.1:1/", .connect_limit = seconds(5), .whole_limit = seconds(5)}, at_once,
            /*may_have_ended=*/true);  // it is refused at once
  cancelled({.url = StrCat("https://127.0.0.1:", server.port(), "/"), .idle_limit = seconds(20)},
            [&](const ObserverFake&) { return server.connections() > 0; });
  const int before = server.connections();
  cancelled({.url = server.Url("/silent")},
            [&](const ObserverFake&) { return server.connections() > before; });
  cancelled({.url = server.Url("/headers")}, [](const auto& self) { return self.status() == 200; });
  cancelled({.url = server.Url("/data")}, [](const auto& self) { return !self.data().empty(); });
  for (int i = 0; i < 20; ++i)
    cancelled({.url = server.Url("/flood")}, [](const auto& self) { return self.data().size() > 50'000; });
}

TEST(ClientControl, AnObserverCancelsItself) {
  RawServerFake server([](int connection, Stopping stopping) {
    RawServerFake::ReadRequest(connection);
    Send(connection, kChunked);
    const std::string flood = Chunk(std::string(10'000, 'x'));
    while (!stopping && send(connection, flood.data(), flood.size(), MSG_NOSIGNAL) > 0) continue;
  });
  ObserverFake observer;
  Client client;
  std::atomic<Client::Handle> handle{0};
  observer.on_data = [&] {
    if (observer.data().size() > 100'000) client.Cancel(handle);
  };
  ObserverFake starter;
  starter.on_done = [&] {
    handle = client.Start({.url = server.Url("/"), .most_bytes = Request::kUnlimited}, &observer);
  };
  client.Start({.url = "nonsense"}, &starter);
  EXPECT_TRUE(observer.Until([](const auto& self) { return self.data().size() > 100'000; }));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_LE(observer.data().size(), 130'000u);
  EXPECT_FALSE(observer.outcome());
}

TEST(ClientControl, CancelWaitsForACallThatRuns) {
  RawServerFake server(RawServerFake::Answering(kChunked + Chunk("x"), /*stays=*/true));
  ObserverFake observer;
  Client client;
  std::atomic<bool> inside{false}, left{false};
  observer.on_data = [&] {
    inside = true;
    std::this_thread::sleep_for(milliseconds(100));
    left = true;
  };
  const Client::Handle handle = client.Start({.url = server.Url("/")}, &observer);
  while (!inside) std::this_thread::sleep_for(milliseconds(1));
  client.Cancel(handle);
  EXPECT_TRUE(left);
}

TEST(ClientControl, ItEndsWithExchangesUnderWay) {
  RawServerFake server(RawServerFake::Answering(kChunked, /*stays=*/true));
  ObserverFake one, two;
  {
    Client client;
    client.Start({.url = server.Url("/")}, &one);
    EXPECT_TRUE(one.Until([](const auto& self) { return self.status() == 200; }));
    client.Start({.url = server.Url("/")}, &two);
  }
  EXPECT_FALSE(one.outcome());
  EXPECT_FALSE(two.outcome());
}

TEST(ClientControl, ExchangesAreBoundedInNumber) {
  RawServerFake server(RawServerFake::Answering("", /*stays=*/true));
  ObserverFake one, two, three;
  Client client({.most_exchanges = 2});
  client.Start({.url = server.Url("/")}, &one);
  client.Start({.url = server.Url("/")}, &two);
  client.Start({.url = server.Url("/")}, &three);
  EXPECT_TRUE(absl::IsResourceExhausted(three.Done().status));
  EXPECT_FALSE(one.outcome());
}

// The CPU time of clients' threads so far.
std::chrono::nanoseconds CpuOfClients() {
  std::chrono::nanoseconds all{0};
  const auto threads = ListFolder("/proc/self/task");
  for (const std::string& thread : *threads) {
    const std::string folder = StrCat("/proc/self/task/", thread);
    std::string name;
    int64_t used = 0;
    std::ifstream(folder + "/comm") >> name;
    std::ifstream(folder + "/schedstat") >> used;
    if (name == "fetch") all += std::chrono::nanoseconds(used);
  }
  return all;
}

TEST(ClientControl, AtRestItUsesNoCpu) {
  RawServerFake server(RawServerFake::Answering(kChunked + Chunk("x"), /*stays=*/true));
  RawServerFake flood([](int connection, Stopping stopping) {
    RawServerFake::ReadRequest(connection);
    Send(connection, kChunked);
    const std::string part = Chunk(std::string(10'000, 'x'));
    while (!stopping) {
      if (send(connection, part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        std::this_thread::sleep_for(milliseconds(5));
    }
  });
  Client client;
  std::vector<std::unique_ptr<ObserverFake>> observers;
  std::vector<Client::Handle> handles;
  for (int i = 0; i < 30; ++i) {
    observers.push_back(std::make_unique<ObserverFake>());
    handles.push_back(
        client.Start({.url = server.Url("/"), .idle_limit = seconds(60)}, observers.back().get()));
  }
  for (const auto& observer : observers)
    EXPECT_TRUE(observer->Until([](const auto& self) { return !self.data().empty(); }));
  ObserverFake slow;
  handles.push_back(client.Start({.url = flood.Url("/"), .most_held = 100'000}, &slow));
  client.Pause(handles.back());
  std::this_thread::sleep_for(milliseconds(200));
  const auto before = CpuOfClients();
  EXPECT_GT(before.count(), 0);
  std::this_thread::sleep_for(milliseconds(1500));
  EXPECT_LT((CpuOfClients() - before).count(), 200'000) << "not one wake-up a second";
  for (const Client::Handle handle : handles) client.Cancel(handle);
}

}  // namespace
}  // namespace fairlead::fetch
