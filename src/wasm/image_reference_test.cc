#include "wasm/image_reference.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::wasm {
namespace {

std::string Read(std::string_view text) {
  const auto read = ParseImageReference(text);
  if (!read.ok()) return "-";
  return StrCat(read->registry, " ", read->repository, " ", read->Name().substr(0, 10));
}

TEST(ImageReference, IsReadAsDockerReadsIt) {
  const std::string digest = StrCat("sha256:", std::string(64, 'a'));
  EXPECT_EQ(Read("registry.example.com:5000/team/filter:1.0"), "registry.example.com:5000 team/filter 1.0");
  EXPECT_EQ(Read("localhost/filter"), "localhost filter latest");
  EXPECT_EQ(Read("[::1]:5000/filter:V_1.0-x"), "[::1]:5000 filter V_1.0-x");
  EXPECT_EQ(Read("filter"), "index.docker.io library/filter latest");
  EXPECT_EQ(Read("team/filter:2"), "index.docker.io team/filter 2");
  EXPECT_EQ(Read("docker.io/team/filter"), "index.docker.io team/filter latest");
  EXPECT_EQ(Read(StrCat("r.io/filter:1@", digest)), "r.io filter sha256:aaa");
}

TEST(ImageReference, OtherTextsAreNone) {
  for (const std::string& text :
       {std::string(), std::string("r.io/"), std::string("r.io/Upper"), std::string("r.io/a//b"),
        std::string("r.io/../b"), std::string("r.io/a:b c"), std::string("r.io/a?x"), std::string("u@r.io/a"),
        std::string("r.io/a@sha256:12"), std::string("r.io\\x/a"),
        StrCat("r.io/a@sha512:", std::string(128, 'a')), StrCat("r.io/", std::string(300, 'a'))}) {
    EXPECT_EQ(Read(text), "-") << text;
  }
}

}  // namespace
}  // namespace fairlead::wasm
