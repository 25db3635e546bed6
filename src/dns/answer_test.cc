#include "dns/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "dns/message_fake.h"

namespace fairlead::dns {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> Addresses(int count) {
  std::vector<std::string> all;
  for (int i = 1; i <= count; ++i) all.push_back(StrCat("10.0.", i / 256, ".", i % 256));
  return all;
}

class DnsAnswerTest : public testing::Test {
 protected:
  TableAnswer AskRaw(const std::string& message, DnsTransport transport = DnsTransport::kUdp) {
    return AnswerFromTable(message, table_.get(), forwards_all_, transport, &dice_, &query_, &out_);
  }
  TableAnswer Ask(const FakeQuery& query, DnsTransport transport = DnsTransport::kUdp) {
    return AskRaw(MakeQuery(query), transport);
  }

  std::shared_ptr<const NameTable> table_ =
      NameTable::Make(MakeTable({{"web.shop.svc.cluster.local", {"10.0.0.1", "fd00::1"}, "Kubernetes"},
                                 {"www.example.com", {"10.0.0.3"}},
                                 {"*.wild.example", {"10.0.0.4"}},
                                 {"many.example", Addresses(200)},
                                 {"two.example", {"10.0.0.5", "10.0.0.6"}}}),
                      {"shop", "shop.svc.cluster.local", {"shop.svc.cluster.local"}})
          .value();
  bool forwards_all_ = false;
  Dice dice_{1};
  Query query_;
  std::string out_;
};

TEST_F(DnsAnswerTest, AKnownNameIsAnswered) {
  ASSERT_EQ(Ask({"web"}), TableAnswer::kAnswered);
  EXPECT_THAT(RecordsOf(out_), ElementsAre("web 30 A 10.0.0.1"));
  EXPECT_THAT(RecordsOf(out_, ns_s_ar), IsEmpty());
  EXPECT_EQ(FlagOf(out_, ns_f_qr), 1);
  EXPECT_EQ(FlagOf(out_, ns_f_aa), 1);
  EXPECT_EQ(FlagOf(out_, ns_f_rd), 1);
  EXPECT_EQ(FlagOf(out_, ns_f_tc), 0);
  EXPECT_EQ(out_.substr(0, 2), Two(7));
  ASSERT_EQ(Ask({"web.shop", kTypeAaaa}), TableAnswer::kAnswered);
  EXPECT_THAT(RecordsOf(out_), ElementsAre("web.shop 30 AAAA fd00::1"));
}

TEST_F(DnsAnswerTest, TheQuestionKeepsItsCase) {
  ASSERT_EQ(Ask({"WwW.eXample.com"}), TableAnswer::kAnswered);
  EXPECT_THAT(RecordsOf(out_), ElementsAre("WwW.eXample.com 30 A 10.0.0.3"));
}

TEST_F(DnsAnswerTest, AKnownNameWithoutSuchAnAddressHasAnEmptyAnswer) {
  ASSERT_EQ(Ask({"www.example.com", kTypeAaaa}), TableAnswer::kAnswered);
  EXPECT_EQ(RcodeOf(out_), 0);
  EXPECT_THAT(RecordsOf(out_), IsEmpty());
  ASSERT_EQ(Ask({"www.example.com.shop.svc.cluster.local", kTypeAaaa}), TableAnswer::kAnswered);
  EXPECT_THAT(RecordsOf(out_), IsEmpty());
}

TEST_F(DnsAnswerTest, AnAliasLeadsToItsTargetInOneAnswer) {
  ASSERT_EQ(Ask({"www.example.com.shop.svc.cluster.local"}), TableAnswer::kAnswered);
  EXPECT_THAT(RecordsOf(out_), ElementsAre("www.example.com.shop.svc.cluster.local 30 CNAME www.example.com",
                                           "www.example.com 30 A 10.0.0.3"));
  ASSERT_EQ(Ask({"a.wild.example.shop.svc.cluster.local"}), TableAnswer::kAnswered);
  EXPECT_THAT(RecordsOf(out_), ElementsAre("a.wild.example.shop.svc.cluster.local 30 CNAME *.wild.example",
                                           "*.wild.example 30 A 10.0.0.4"));
}

TEST_F(DnsAnswerTest, AWildcardAnswersInTheQuestionsName) {
  ASSERT_EQ(Ask({"a.b.wild.example"}), TableAnswer::kAnswered);
  EXPECT_THAT(RecordsOf(out_), ElementsAre("a.b.wild.example 30 A 10.0.0.4"));
}

TEST_F(DnsAnswerTest, AddressesComeInAnyOrder) {
  std::map<std::string, int> first;
  for (int i = 0; i < 200; ++i) {
    Ask({"two.example"});
    const auto records = RecordsOf(out_);
    EXPECT_THAT(records, UnorderedElementsAre("two.example 30 A 10.0.0.5", "two.example 30 A 10.0.0.6"));
    ++first[records[0]];
  }
  EXPECT_GT(first["two.example 30 A 10.0.0.5"], 60);
  EXPECT_GT(first["two.example 30 A 10.0.0.6"], 60);
}

TEST_F(DnsAnswerTest, EverythingElseIsForwarded) {
  EXPECT_EQ(Ask({"unknown.example"}), TableAnswer::kForward);
  EXPECT_EQ(Ask({.name = "web", .type = ns_t_txt}), TableAnswer::kForward);
  EXPECT_EQ(Ask({.name = "web", .dns_class = ns_c_chaos}), TableAnswer::kForward);
}

TEST_F(DnsAnswerTest, WithoutATableQueriesFailOrAreForwarded) {
  table_ = nullptr;
  ASSERT_EQ(Ask({"web"}), TableAnswer::kAnswered);
  EXPECT_EQ(RcodeOf(out_), kRcodeServerFailure);
  forwards_all_ = true;
  EXPECT_EQ(Ask({"web"}), TableAnswer::kForward);
}

TEST_F(DnsAnswerTest, AnAnswerIsAsLongAsTheClientTakes) {
  ASSERT_EQ(Ask({"many.example"}), TableAnswer::kAnswered);
  EXPECT_LE(out_.size(), kLeastUdp);
  EXPECT_GT(out_.size(), kLeastUdp - 16);
  EXPECT_EQ(FlagOf(out_, ns_f_tc), 1);
  ASSERT_EQ(Ask({.name = "many.example", .edns = 1232}), TableAnswer::kAnswered);
  EXPECT_LE(out_.size(), 1232u);
  EXPECT_GT(out_.size(), 1232u - 16);
  EXPECT_EQ(FlagOf(out_, ns_f_tc), 1);
  EXPECT_THAT(RecordsOf(out_, ns_s_ar), ElementsAre(". 0 TYPE41")) << "EDNS is answered by EDNS";
  ASSERT_EQ(Ask({.name = "many.example", .edns = 4096}), TableAnswer::kAnswered);
  EXPECT_EQ(RecordsOf(out_).size(), 200u);
  EXPECT_EQ(FlagOf(out_, ns_f_tc), 0);
  ASSERT_EQ(Ask({"many.example"}, DnsTransport::kTcp), TableAnswer::kAnswered);
  EXPECT_EQ(RecordsOf(out_).size(), 200u);
  EXPECT_EQ(FlagOf(out_, ns_f_tc), 0);
}

TEST_F(DnsAnswerTest, WhatIsNoQueryIsRefusedOrIgnored) {
  const std::string good = MakeQuery({"web"});
  EXPECT_EQ(AskRaw(good.substr(0, 11)), TableAnswer::kIgnored);
  std::string answer = good;
  answer[2] = static_cast<char>(answer[2] | 0x80);
  EXPECT_EQ(AskRaw(answer), TableAnswer::kIgnored) << "two servers must not answer each other for ever";
  ASSERT_EQ(AskRaw(good.substr(0, 14)), TableAnswer::kAnswered);
  EXPECT_EQ(RcodeOf(out_), kRcodeFormatError);
  EXPECT_EQ(out_.size(), 12u);
  std::string status = good;
  status[2] = 0x10;  // opcode 2
  ASSERT_EQ(AskRaw(status), TableAnswer::kAnswered);
  EXPECT_EQ(RcodeOf(out_), kRcodeNotImplemented);
  std::string two = good + good.substr(12);
  two[5] = 2;  // questions
  ASSERT_EQ(AskRaw(two), TableAnswer::kAnswered);
  EXPECT_EQ(RcodeOf(out_), kRcodeFormatError);
}

TEST(DnsMessageTest, AReplyHasToBeOfTheQuestion) {
  const std::string query = MakeQuery({"www.example.com"});
  const std::string reply = MakeReply(query, 2);
  EXPECT_TRUE(Answers(reply, query, 7));
  EXPECT_FALSE(Answers(reply, query, 8));
  EXPECT_FALSE(Answers(query, query, 7)) << "a query is no reply";
  EXPECT_FALSE(Answers(MakeReply(MakeQuery({"www.example.org"}), 2), query, 7));
  EXPECT_FALSE(Answers(MakeReply(MakeQuery({"www.example.com", kTypeAaaa}), 2), query, 7));
  EXPECT_TRUE(Answers(MakeReply(MakeQuery({"WWW.EXAMPLE.com"}), 2), query, 7));
  EXPECT_FALSE(Answers(reply.substr(0, reply.size() - 1), query, 7)) << "cut off";
  EXPECT_TRUE(Answers(Two(7) + Two(0x8181) + std::string(8, '\0'), query, 7)) << "refused without a question";
  EXPECT_FALSE(Answers(Two(7) + Two(0x8180) + std::string(8, '\0'), query, 7));
}

TEST(DnsMessageTest, AReplyIsCutBetweenRecords) {
  std::string reply = MakeReply(MakeQuery({"www.example.com"}), 60);
  const std::string opt = std::string(1, '\0') + Two(41) + Two(1232) + std::string(4, '\0') + Two(0);
  reply += opt;
  reply[11] = 1;
  const std::string whole = reply;
  ASSERT_TRUE(Truncate(whole.size(), &reply));
  EXPECT_EQ(reply, whole);
  ASSERT_TRUE(Truncate(512, &reply));
  EXPECT_LE(reply.size(), 512u);
  EXPECT_EQ(RecordsOf(reply).size(), (512 - 33 - 11) / 16u);
  EXPECT_THAT(RecordsOf(reply, ns_s_ar), ElementsAre(". 0 TYPE41"));
  EXPECT_EQ(FlagOf(reply, ns_f_tc), 1);
  std::string broken(600, '\xff');
  EXPECT_FALSE(Truncate(512, &broken));
}

TEST(DnsMessageTest, ANameThatDnsCannotHaveIsNone) {
  EXPECT_EQ(*WireName("A.example."), std::string("\1a\7example\0", 11));
  EXPECT_FALSE(WireName(std::string(64, 'a') + ".example"));
  EXPECT_FALSE(WireName("a..example"));
  EXPECT_FALSE(WireName(".example"));
  std::string longest;
  for (int i = 0; i < 130; ++i) longest += "a.";
  EXPECT_FALSE(WireName(longest));
}

}  // namespace
}  // namespace fairlead::dns
