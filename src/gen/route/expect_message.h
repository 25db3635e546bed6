#ifndef FAIRLEAD_GEN_ROUTE_EXPECT_MESSAGE_H_
#define FAIRLEAD_GEN_ROUTE_EXPECT_MESSAGE_H_

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "gen/route/test_objects.h"

namespace fairlead::gen::route {

// Fails where the message is not the one that the protobuf text says, and tells the difference.
template <typename Message>
void ExpectMessage(const Message& got, std::string_view want) {
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(FromText<Message>(want), got))
      << difference << "\ngot: " << got.DebugString();
}

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_EXPECT_MESSAGE_H_
