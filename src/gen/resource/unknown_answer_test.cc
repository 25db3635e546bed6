#include "gen/resource/unknown_answer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/strings.h"

namespace fairlead::gen {
namespace {

cache::ResourcePtr Answer(cache::TypeId type, const std::string& name) {
  return UnknownAnswer(type, name, [&] {
    auto made = std::make_shared<cache::Resource>();
    made->name = name;
    return made;
  });
}

TEST(UnknownAnswerTest, IsOneForAllThatAsk) {
  const auto answer = Answer(cache::TypeId::kEndpoint, "a");
  EXPECT_EQ(answer->name, "a");
  EXPECT_EQ(Answer(cache::TypeId::kEndpoint, "a"), answer);
  EXPECT_NE(Answer(cache::TypeId::kRoute, "a"), answer);
  EXPECT_NE(Answer(cache::TypeId::kEndpoint, "b"), answer);
}

TEST(UnknownAnswerTest, IsForgottenWithTheLastThatHasIt) {
  for (int i = 0; i < 20'000; ++i) Answer(cache::TypeId::kEndpoint, StrCat("made-up-", i));
  EXPECT_EQ(CountUnknownAnswers().alive, 0u);
  EXPECT_LE(CountUnknownAnswers().entries, 1024u);
}

}  // namespace
}  // namespace fairlead::gen
