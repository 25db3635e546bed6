#include "http2/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::http2 {
namespace {

using std::chrono::milliseconds;

RequestFields Make(std::vector<std::pair<std::string, std::string>> fields) {
  RequestFields request(1000);
  fields.insert(fields.begin(), {{":method", "POST"}, {":path", "/a.B/C"}, {":scheme", "http"}});
  for (const auto& [name, value] : fields) request.Add(name, value);
  return request;
}

std::string Verdict(const RequestFields& request) {
  const auto refusal = request.Check();
  if (!refusal) return "ok";
  if (refusal->http_status != 200) return std::to_string(refusal->http_status);
  return absl::StatusCodeToString(refusal->status.code());
}

TEST(RequestFields, IsOfGrpc) {
  for (const char* type : {"application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"})
    EXPECT_EQ(Verdict(Make({{"content-type", type}})), "ok") << type;
  for (const char* type : {"application/grpc-web", "application/json", "application/grp", ""})
    EXPECT_EQ(Verdict(Make({{"content-type", type}})), "415") << type;
  EXPECT_EQ(Verdict(Make({})), "415");
  EXPECT_EQ(Verdict(Make({{":method", "GET"}, {"content-type", "application/grpc"}})), "405");
}

TEST(RequestFields, NamesItsEncodingAndTimeout) {
  const std::pair<std::string, std::string> type = {"content-type", "application/grpc"};
  EXPECT_TRUE(Make({type, {"grpc-encoding", "gzip"}}).Compressed());
  EXPECT_TRUE(Make({type, {"grpc-encoding", "deflate"}}).Compressed());
  EXPECT_FALSE(Make({type, {"grpc-encoding", "identity"}}).Compressed());
  EXPECT_EQ(Verdict(Make({type, {"grpc-encoding", "snappy"}})), "UNIMPLEMENTED");
  EXPECT_EQ(Make({type, {"grpc-timeout", "250m"}}).Timeout(), milliseconds(250));
  EXPECT_EQ(Verdict(Make({type, {"grpc-timeout", "250m"}})), "ok");
  EXPECT_EQ(Verdict(Make({type, {"grpc-timeout", "soon"}})), "INTERNAL");
}

TEST(RequestFields, KeepsMetadataAndOfSeveralTheLast) {
  const RequestFields request =
      Make({{"authorization", "Bearer a"}, {"authorization", "Bearer b"}, {"x", ""}});
  EXPECT_EQ(request.Metadata("authorization"), "Bearer b");
  EXPECT_EQ(request.Metadata("x"), "");
  EXPECT_EQ(request.Metadata("y"), std::nullopt);
  EXPECT_EQ(request.path(), "/a.B/C");
}

TEST(RequestFields, KeepsNoMoreThanTheLimit) {
  RequestFields request = Make({{"content-type", "application/grpc"}});
  for (int i = 0; i < 10000; ++i) request.Add("name", "");
  EXPECT_TRUE(request.TooLarge());
  EXPECT_EQ(request.Metadata("name"), std::nullopt);
  EXPECT_EQ(Verdict(request), "RESOURCE_EXHAUSTED");
}

TEST(ParseTimeout, ReadsEachUnit) {
  EXPECT_EQ(ParseTimeout("1H"), std::chrono::hours(1));
  EXPECT_EQ(ParseTimeout("2M"), std::chrono::minutes(2));
  EXPECT_EQ(ParseTimeout("3S"), std::chrono::seconds(3));
  EXPECT_EQ(ParseTimeout("4m"), milliseconds(4));
  EXPECT_EQ(ParseTimeout("5u"), std::chrono::microseconds(5));
  EXPECT_EQ(ParseTimeout("99999999n"), std::chrono::nanoseconds(99999999));
  EXPECT_GT(*ParseTimeout("99999999H"), std::chrono::hours(1000));
  for (const char* bad : {"", "1", "S", "-1S", "+1S", "1.5S", "123456789S", "1s", " 1S", "1S "})
    EXPECT_EQ(ParseTimeout(bad), std::nullopt) << bad;
}

TEST(EncodeMessage, EncodesWhatIsNotPrintable) {
  EXPECT_EQ(EncodeMessage("plain text, 100%\n"), "plain text, 100%25%0A");
  EXPECT_EQ(EncodeMessage("\xc3\xa9\x7f"), "%C3%A9%7F");
}

TEST(DecodeMessage, ReadsWhatIsEncodedAndLeavesTheRest) {
  const std::string text = "plain text, 100%\n\xc3\xa9\x7f";
  EXPECT_EQ(DecodeMessage(EncodeMessage(text)), text);
  for (const char* same : {"", "%", "%4", "100% of it", "%4g", "%-1", "%+1"})
    EXPECT_EQ(DecodeMessage(same), same);
}

}  // namespace
}  // namespace fairlead::http2
