#include "source/platform/kept_view.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/flow_text.h"
#include "config/read/json_reader.h"
#include "config/read/manifests.h"
#include "proto/json.h"
#include "source/file/read_file.h"

namespace fairlead::source {
namespace {

using nlohmann::ordered_json;

constexpr int kFormat = 1;

ordered_json MetaOf(const config::ConfigObject& object) {
  ordered_json meta = {{"name", object.name().str()}};
  if (!object.ns().empty()) meta["namespace"] = object.ns().str();
  if (!object.meta().labels.empty()) meta["labels"] = object.meta().labels;
  if (!object.meta().annotations.empty()) meta["annotations"] = object.meta().annotations;
  return meta;
}

// Of an object that was made, of a kind whose payload is a message; "" where it has no text.
std::string TextOf(const config::ConfigObject& object) {
  const config::KindInfo& kind = config::InfoOf(object.kind());
  if (kind.payload != config::PayloadType::kProto) return "";
  const auto& message = *object.SharedSpec<google::protobuf::Message>();
  const auto spec = proto::ToJson(kind.message, message.SerializeAsString());
  if (!spec.ok()) return "";
  auto parsed = ParseOrderedJson(*spec);
  if (!parsed) return "";
  const ordered_json document = {{"apiVersion", StrCat(kind.group, "/", kind.versions.front())},
                                 {"kind", std::string(kind.name)},
                                 {"metadata", MetaOf(object)},
                                 {"spec", *std::move(parsed)}};
  std::string text = JsonText(document);
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (plain) return text;
  // It is read as YAML, which takes fewer characters than JSON.
  const absl::StatusOr<config::Tree> tree = config::JsonReader().Read(text);
  return tree.ok() ? config::FlowText(tree->root()) : "";
}

bool HasSecret(const PlatformPart& part) {
  return std::any_of(part.objects.begin(), part.objects.end(),
                     [](const config::ConfigPtr& object) { return object->kind() == config::Kind::kSecret; });
}

std::string TextOf(const PlatformPart& part) {
  if (!part.text.empty()) return part.text;
  std::string text;
  for (const config::ConfigPtr& object : part.objects) StrAppend(&text, "---\n", TextOf(*object), "\n");
  return text;
}

absl::Status Damaged(const std::string& why) { return absl::InvalidArgumentError(ToAbsl(why)); }

}  // namespace

std::string KeptViewText(const std::string& source, int64_t time,
                         const std::map<std::string, PlatformPartPtr>& parts) {
  ordered_json texts = ordered_json::array();
  for (const auto& [name, part] : parts) {
    if (part->objects.empty() || HasSecret(*part)) continue;
    texts.push_back(
        {{"name", name}, {"file", part->objects.front()->origin().file.str()}, {"manifests", TextOf(*part)}});
  }
  const std::string body = JsonText(texts);
  const ordered_json head = {
      {"format", kFormat}, {"source", source}, {"time", time}, {"hash", ToHex(StableHash(body))}};
  return StrCat(JsonText(head), "\n", body, "\n");
}

absl::StatusOr<KeptView> ParseKeptView(const std::string& source, std::string_view text) {
  const size_t line = text.find('\n');
  const auto head = ParseJson(text.substr(0, line));
  if (line == std::string_view::npos || !head || !head->is_object()) return Damaged("it has no head");
  const auto number = [&head](const char* name) -> int64_t {
    const auto it = head->find(name);
    return it != head->end() && it->is_number_integer() ? it->get<int64_t>() : -1;
  };
  if (number("format") != kFormat) return Damaged("it is of another format");
  if (JsonString(*head, "source") != source) return Damaged("it is of another source");
  const std::string_view body = Trim(text.substr(line + 1));
  if (JsonString(*head, "hash") != ToHex(StableHash(body))) return Damaged("it is damaged");
  const auto texts = ParseJson(body);
  if (!texts || !texts->is_array()) return Damaged("it has no parts");
  KeptView view;
  view.time = std::max<int64_t>(0, number("time"));
  for (const auto& entry : *texts) {
    if (!entry.is_object()) return Damaged("a part is no object");
    PlatformPart part;
    part.text = JsonString(entry, "manifests");
    config::ParseResult result =
        config::ParseManifests(part.text, JsonString(entry, "file"), config::Admission::kPassed);
    part.objects = std::move(result.objects);
    if (!part.objects.empty()) view.parts.emplace(JsonString(entry, "name"), std::move(part));
  }
  return view;
}

absl::StatusOr<KeptView> ReadKeptView(const std::string& source, const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseKeptView(source, *text);
}

std::string KeptViewName(const std::string& source) {
  return StrCat(source.substr(0, source.find(':')), "-", ToHex(StableHash(source)).substr(0, 16), ".json");
}

}  // namespace fairlead::source
