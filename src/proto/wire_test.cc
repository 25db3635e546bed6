#include "proto/wire.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

namespace fairlead::proto {
namespace {

TEST(Wire, WritesWhatProtobufReads) {
  const std::string large(70000, 'x');
  std::string bytes;
  AppendField(google::protobuf::Any::kTypeUrlFieldNumber, "type", &bytes);
  AppendField(google::protobuf::Any::kValueFieldNumber, large, &bytes);
  google::protobuf::Any any;
  ASSERT_TRUE(any.ParseFromString(bytes));
  EXPECT_EQ(any.type_url(), "type");
  EXPECT_EQ(any.value(), large);
  EXPECT_EQ(bytes, any.SerializeAsString());
}

TEST(Wire, LeavesOutFalse) {
  std::string bytes;
  AppendBool(1, false, &bytes);
  EXPECT_EQ(bytes, "");
  AppendBool(1, true, &bytes);
  google::protobuf::BoolValue value;
  ASSERT_TRUE(value.ParseFromString(bytes));
  EXPECT_TRUE(value.value());
}

TEST(Wire, VarintsHaveSevenBitsAByte) {
  std::string bytes;
  AppendVarint(127, &bytes);
  AppendVarint(300, &bytes);
  EXPECT_EQ(bytes, "\x7f\xac\x02");
}

}  // namespace
}  // namespace fairlead::proto
