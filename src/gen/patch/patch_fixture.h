#ifndef FAIRLEAD_GEN_PATCH_PATCH_FIXTURE_H_
#define FAIRLEAD_GEN_PATCH_PATCH_FIXTURE_H_

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "config/object.h"
#include "gen/patch/apply.h"
#include "gen/patch/patch.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"
#include "proto/json.h"

// For this folder's tests: messages and EnvoyFilters written as JSON.
namespace fairlead::gen::patch {

template <typename Message>
Message FromJson(const std::string& json) {
  Message message;
  const auto bytes = proto::FromJson(Message::descriptor()->full_name(), json);
  EXPECT_TRUE(bytes.ok()) << bytes.status() << json;
  EXPECT_TRUE(message.ParseFromString(bytes.value_or("")));
  return message;
}

template <typename Message>
std::string ToJson(const Message& message) {
  const auto json = proto::ToJson(message.GetDescriptor()->full_name(), message.SerializeAsString());
  EXPECT_TRUE(json.ok()) << json.status();
  return json.value_or("");
}

inline istio::networking::v1alpha3::EnvoyFilter ParseEnvoyFilter(const std::string& json) {
  istio::networking::v1alpha3::EnvoyFilter filter;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &filter).ok()) << json;
  return filter;
}

// An EnvoyFilter with these configPatches, elements of a JSON list.
inline config::ConfigPtr MakeEnvoyFilter(std::string_view name, std::string_view patches) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = "default";
  using istio::networking::v1alpha3::EnvoyFilter;
  auto spec =
      std::make_shared<const EnvoyFilter>(ParseEnvoyFilter(StrCat(R"({"configPatches": [)", patches, "]}")));
  return std::make_shared<config::ConfigObject>(config::Kind::kEnvoyFilter, std::move(meta), config::Origin{},
                                                spec, 1);
}

inline PatchSet MakeSet(Side side, std::string_view patches) {
  PatchList list;
  for (PatchPtr& patch : ReadPatches(MakeEnvoyFilter("filter", patches))) {
    if (patch->IsFor(side)) list.push_back(std::move(patch));
  }
  return PatchSet(side, std::move(list));
}

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_PATCH_FIXTURE_H_
