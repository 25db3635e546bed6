#ifndef FAIRLEAD_SIMULATE_TEXT_PROTO_H_
#define FAIRLEAD_SIMULATE_TEXT_PROTO_H_

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

namespace fairlead::simulate {

// A message from protobuf's text format, for tests.
template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_TEXT_PROTO_H_
