#include "base/go_url.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/strings.h"

// "scheme host path" of what Go's net/url reads, "no" where it refuses.
namespace fairlead {
namespace {

std::string ToText(const std::optional<GoUrl>& url) {
  return url ? StrCat(url->scheme, " ", url->host, " ", url->path) : "no";
}

TEST(GoUrlTest, AbsoluteAndRelative) {
  const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {"https://a.b/c", "https a.b /c"},
      {"HTTP://a.b:80", "http a.b:80 "},
      {"https://u:p@a.b/c?d=e#f", "https a.b /c"},
      {"https://[::1]:80/", "https [::1]:80 /"},
      {"oci://a.b/c:v1", "oci a.b /c:v1"},
      {"a.b/c", "  a.b/c"},
      {"/a/b", "  /a/b"},
      {"//a.b/c", " a.b /c"},
      {"", "  "},
      {"mailto:a", "mailto  "},
      {"file:///a", "file  /a"},
      {"a b", "  a b"},
      {"/a%20b", "  /a%20b"},
      {"/a%2", "no"},
      {"https://a.b:x/", "no"},
      {"https://a:b:1/", "no"},
      {"https://a:/", "https a: /"},
      {"https://a b/", "no"},
      {"https://a%41/", "no"},
      {"https://[::1/", "no"},
      {":a", "no"},
      {"1a:b", "no"},
      {"a\x01", "no"},
      {"/a#%2", "no"},
  };
  for (const auto& [text, parts] : table) EXPECT_EQ(ToText(ParseUrl(text)), parts) << text;
}

TEST(GoUrlTest, RequestUris) {
  const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {"https://a.b/c", "https a.b /c"}, {"/a?b", "  /a"}, {"*", "  *"}, {"/a#b", "  /a#b"},
      {"//a.b/c", "  //a.b/c"},          {"a.b/c", "no"},  {"", "no"},   {"https://a.b:x", "no"},
      {"mailto:a", "mailto  "},
  };
  for (const auto& [text, parts] : table) EXPECT_EQ(ToText(ParseRequestUri(text)), parts) << text;
}

}  // namespace
}  // namespace fairlead
