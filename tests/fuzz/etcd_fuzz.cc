// Answers and keys of etcd: each gives objects that are those of their keys, or nothing.
#include <cstdint>
#include <string_view>

#include "source/etcd/etcd_messages.h"
#include "source/etcd/etcd_objects.h"
#include "tests/fuzz/choices.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::source;
  using fairlead::fuzz::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)DecodeRange(text);
  (void)DecodeOutcome(text);
  (void)DecodeNews(text);
  (void)DecodeToken(text);
  const size_t line = text.find('\n');
  const std::string_view key = text.substr(0, line);
  const std::string_view value = line == std::string_view::npos ? "" : text.substr(line + 1);
  const auto object = ObjectOfEtcdKey(key, "/p/");
  if (object) {
    const auto again = ObjectOfEtcdKey(EtcdKeyOf(*object, "/p/"), "/p/");
    Require(again && *again == *object, "a key of an object is of another one");
  }
  const PlatformPart part = ReadEtcdValue("etcd://h:2379", "/p/", key, value, nullptr, false);
  Require(part.objects.size() <= 1, "a value is several objects");
  for (const auto& one : part.objects)
    Require(object && fairlead::config::KeyOf(*one) == *object, "the object is not the key's");
  Require(!part.objects.empty() || !part.diagnostics.empty(), "nothing is said of what is left out");
  return 0;
}
