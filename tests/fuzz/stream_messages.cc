#include "tests/fuzz/stream_messages.h"

#include "base/hash.h"
#include "base/strings.h"
#include "proto/wire.h"
#include "tests/fuzz/choices.h"
#include "xds/wire.h"

namespace fairlead::fuzz {
namespace {

using xds::FieldReader;
using xds::Framing;

constexpr const char* kWildcard = "*";

void Append(uint32_t field, std::string_view bytes, std::string* out) {
  proto::AppendField(static_cast<int>(field), bytes, out);
}

void AppendNames(const Names& names, uint32_t field, uint32_t locator_field, bool locators,
                 std::string* out) {
  for (const std::string& name : names) {
    if (locators) {
      std::string locator;
      Append(1, name, &locator);
      Append(locator_field, locator, out);
    } else {
      Append(field, name, out);
    }
  }
}

void ReadResource(Framing framing, std::string_view bytes, Seen* seen) {
  std::string_view any = bytes;
  std::string version, name;
  if (framing == Framing::kDelta) {
    any = {};
    for (FieldReader field(bytes); field.Next();) {
      if (field.number() == 1) version = std::string(field.bytes());
      if (field.number() == 2) any = field.bytes();
      if (field.number() == 3) name = std::string(field.bytes());
    }
    Require(version == ToHex(StableHash(any)), "the version of ", name, " is not of its content");
    Require(name == NameInside(any), "a resource is called ", name);
  } else {
    name = NameInside(any);
  }
  Require(seen->resources.emplace(name, StableHash(any)).second, name, " is there twice");
}

}  // namespace

std::string Encode(Framing framing, const Asked& asked) {
  const bool delta = framing == Framing::kDelta;
  std::string out, status;
  if (!asked.url.empty()) Append(delta ? 2 : 4, asked.url, &out);
  AppendNames(asked.subscribe, 3, delta ? 8 : 7, asked.locators, &out);
  if (delta) AppendNames(asked.unsubscribe, 4, 9, asked.locators, &out);
  if (!asked.nonce.empty()) Append(delta ? 6 : 5, asked.nonce, &out);
  if (asked.rejected) {
    Append(2, "bad", &status);
    Append(delta ? 7 : 6, status, &out);
  }
  for (const auto& [name, version] : delta ? asked.claims : decltype(asked.claims)()) {
    std::string entry;
    Append(1, name, &entry);
    Append(2, version, &entry);
    Append(5, entry, &out);
  }
  return out;
}

Seen Decode(Framing framing, const std::string& bytes) {
  Seen seen;
  const xds::TypeInfo* type = nullptr;
  FieldReader field(bytes);
  while (field.Next()) {
    if (field.number() == 1) seen.version = std::string(field.bytes());
    if (field.number() == 2) ReadResource(framing, field.bytes(), &seen);
    if (field.number() == 4) type = xds::FindType(field.bytes());
    if (field.number() == 5) seen.nonce = std::string(field.bytes());
    if (field.number() != 6) continue;
    Require(framing == Framing::kDelta, "removed names in state of the world");
    Require(seen.removed.emplace(field.bytes()).second, field.bytes(), " is removed twice");
  }
  Require(field.ok() && type != nullptr, "not a response");
  for (const std::string& name : seen.removed) {
    Require(!seen.resources.contains(name), name, " is both there and removed");
  }
  seen.type = type->id;
  return seen;
}

std::string ToText(const Asked& asked) {
  std::string text =
      StrCat(asked.url.substr(asked.url.rfind('.') + 1), asked.rejected ? " NACK " : " ", asked.nonce, " +",
             Join(asked.subscribe, ","), " -", Join(asked.unsubscribe, ","));
  for (const auto& [name, version] : asked.claims) StrAppend(&text, " has ", name, "=", version);
  return text;
}

std::string ToText(const Seen& seen) {
  std::string text = StrCat(xds::InfoOf(seen.type).name, " ", seen.nonce);
  for (const auto& [name, hash] : seen.resources) StrAppend(&text, " ", name, "=", ToHex(hash));
  return StrCat(text, " -", Join(seen.removed, ","));
}

void Subscription::Replace(const Names& asked, bool root) {
  opened = true;
  named |= !asked.empty();
  names = {asked.begin(), asked.end()};
  wildcard = root && (names.contains(kWildcard) || !named);
  if (root) names.erase(kWildcard);
}

void Subscription::Change(const Names& add, const Names& drop, bool root) {
  if (!opened && root && add.empty()) wildcard = true;
  opened = true;
  names.insert(add.begin(), add.end());
  if (root && names.erase(kWildcard) > 0) wildcard = true;
  for (const std::string& name : drop) {
    names.erase(name);
    if (root && name == kWildcard) wildcard = false;
  }
}

}  // namespace fairlead::fuzz
