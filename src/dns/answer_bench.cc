#include <benchmark/benchmark.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "dns/answer.h"
#include "dns/message_fake.h"
#include "dns/resolver_fake.h"
#include "dns/server.h"

// The cost of an answer from a table of a large mesh, without sockets and over UDP. The argument is the
// number of services.
namespace fairlead::dns {
namespace {

const SearchPath kWorkload{"ns-1", "ns-1.svc.cluster.local", {"ns-1.svc.cluster.local", "svc.cluster.local"}};

std::string Host(int64_t i) { return StrCat("svc-", i, ".ns-", i % 20, ".svc.cluster.local"); }

std::string TableMessage(int64_t services) {
  std::vector<FakeHost> hosts;
  for (int64_t i = 0; i < services; ++i)
    hosts.push_back(
        {Host(i), {StrCat("10.", i / 65536 % 256, ".", i / 256 % 256, ".", i % 256)}, "Kubernetes"});
  hosts.push_back({"*.wild.example", {"10.0.0.1"}});
  return MakeTable(hosts);
}

void BM_MakeTable(benchmark::State& state) {
  const std::string message = TableMessage(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(NameTable::Make(message, kWorkload).value());
}
BENCHMARK(BM_MakeTable)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

void Answer(benchmark::State& state, const FakeQuery& query) {
  const auto table = NameTable::Make(TableMessage(state.range(0)), kWorkload).value();
  const std::string message = MakeQuery(query);
  Dice dice(1);
  Query read;
  std::string out;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        AnswerFromTable(message, table.get(), false, DnsTransport::kUdp, &dice, &read, &out));
  state.SetItemsProcessed(state.iterations());
}
void BM_Name(benchmark::State& state) { Answer(state, {Host(21)}); }
BENCHMARK(BM_Name)->Arg(1000)->Arg(10'000);
void BM_NameWithEdns(benchmark::State& state) { Answer(state, {.name = Host(21), .edns = 1232}); }
BENCHMARK(BM_NameWithEdns)->Arg(1000);
void BM_Alias(benchmark::State& state) { Answer(state, {Host(22) + ".ns-1.svc.cluster.local"}); }
BENCHMARK(BM_Alias)->Arg(1000);
void BM_Wildcard(benchmark::State& state) { Answer(state, {"a.b.c.wild.example"}); }
BENCHMARK(BM_Wildcard)->Arg(1000);
void BM_UnknownName(benchmark::State& state) { Answer(state, {"www.example.com"}); }
BENCHMARK(BM_UnknownName)->Arg(1000);

// Answers for each second of the server's processor time, while a client keeps 64 queries under way.
void BM_OverUdp(benchmark::State& state) {
  constexpr size_t kUnderWay = 64, kAnswer = 512;
  DnsServerOptions options;
  options.listen = {*SocketAddress::Parse("127.0.0.1", 0)};
  DnsServer server(options);
  if (!server.Start().ok()) return state.SkipWithError("cannot listen");
  server.SetTable(NameTable::Make(TableMessage(state.range(0)), kWorkload).value());
  const FakeClient client(server.listens_at()[0], /*tcp=*/false);
  std::vector<std::string> queries;
  std::vector<std::array<char, kAnswer>> answers(kUnderWay);
  std::vector<iovec> out(kUnderWay), in(kUnderWay);
  std::vector<mmsghdr> to_send(kUnderWay), to_read(kUnderWay);
  for (size_t i = 0; i < kUnderWay; ++i) queries.push_back(MakeQuery({Host(static_cast<int64_t>(i))}));
  for (size_t i = 0; i < kUnderWay; ++i) {
    out[i] = {queries[i].data(), queries[i].size()};
    in[i] = {answers[i].data(), kAnswer};
    to_send[i].msg_hdr.msg_iov = &out[i];
    to_send[i].msg_hdr.msg_iovlen = to_read[i].msg_hdr.msg_iovlen = 1;
    to_read[i].msg_hdr.msg_iov = &in[i];
  }
  int64_t answered = 0, lost = 0;
  const auto begin = server.cpu_time();
  for (auto _ : state) {
    size_t sent = 0, got = 0;
    while (sent < kUnderWay)
      sent += static_cast<size_t>(std::max(
          sendmmsg(client.get(), to_send.data() + sent, static_cast<unsigned>(kUnderWay - sent), 0), 0));
    while (got < kUnderWay && Readable(client.get(), 1'000))
      got += static_cast<size_t>(
          std::max(recvmmsg(client.get(), to_read.data(), static_cast<unsigned>(kUnderWay - got),
                            MSG_DONTWAIT, nullptr),
                   0));
    answered += static_cast<int64_t>(got);
    lost += static_cast<int64_t>(kUnderWay - got);
  }
  const double seconds = std::chrono::duration<double>(server.cpu_time() - begin).count();
  state.counters["per_cpu_second"] = static_cast<double>(answered) / seconds;
  state.counters["lost"] = static_cast<double>(lost);
  state.SetItemsProcessed(answered);
}
BENCHMARK(BM_OverUdp)->Arg(1000)->UseRealTime();

}  // namespace
}  // namespace fairlead::dns
