#include "model/settings_parts.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/field_mask_util.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"

namespace fairlead::model {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using istio::mesh::v1alpha1::MeshConfig;
using istio::mesh::v1alpha1::MeshNetworks;

constexpr const char* kProxyConfigField = "default_config";

void Change(const FieldDescriptor& field, Message* message);

void ChangeMessage(const FieldDescriptor& field, Message* message) {
  const auto& reflection = *message->GetReflection();
  const bool was_there = reflection.HasField(*message, &field);
  Message* inner = reflection.MutableMessage(message, &field);
  if (was_there) Change(*inner->GetDescriptor()->field(0), inner);
}

// Gives the field another value.
void Change(const FieldDescriptor& field, Message* message) {
  const auto& r = *message->GetReflection();
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return many ? void(r.AddMessage(message, &field)) : ChangeMessage(field, message);
    case FieldDescriptor::CPPTYPE_STRING:
      return many ? r.AddString(message, &field, "x")
                  : r.SetString(message, &field, r.GetString(*message, &field) + "x");
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.SetBool(message, &field, !r.GetBool(*message, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      return r.SetInt32(message, &field, r.GetInt32(*message, &field) + 1);
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.SetUInt32(message, &field, r.GetUInt32(*message, &field) + 1);
    case FieldDescriptor::CPPTYPE_INT64:
      return r.SetInt64(message, &field, r.GetInt64(*message, &field) + 1);
    case FieldDescriptor::CPPTYPE_ENUM:
      return r.SetEnumValue(message, &field, r.GetEnumValue(*message, &field) + 1);
    default:
      FAIL() << field.full_name() << " has a type that this test does not know";
  }
}

std::vector<SettingsPart> AllParts() {
  std::vector<SettingsPart> all;
  for (size_t i = 0; i < kSettingsPartCount; ++i) all.push_back(static_cast<SettingsPart>(i));
  return all;
}

bool Lists(std::span<const std::string_view> fields, std::string_view path) {
  return std::find(fields.begin(), fields.end(), path) != fields.end();
}

std::set<SettingsPart> PartsThatList(const std::string& path, const std::string& below = "") {
  std::set<SettingsPart> parts;
  for (const SettingsPart part : AllParts()) {
    const auto fields = FieldsOf(part);
    if (Lists(fields, path) || (!below.empty() && Lists(fields, StrCat(path, ".", below))))
      parts.insert(part);
  }
  return parts;
}

Settings SettingsOf(const MeshConfig& mesh) {
  Settings settings;
  settings.mesh = std::make_shared<const MeshConfig>(mesh);
  settings.networks = std::make_shared<const MeshNetworks>();
  return settings;
}

class SettingsPartsTest : public ::testing::Test {
 protected:
  // Which parts are others with that MeshConfig.
  std::set<SettingsPart> ChangedBy(const MeshConfig& mesh) {
    const SettingsPtr now = WithPrevious(SettingsOf(mesh), before_);
    EXPECT_NE(now, before_);
    std::set<SettingsPart> changed;
    for (const SettingsPart part : AllParts()) {
      if (now->Part(part) != before_->Part(part)) changed.insert(part);
    }
    return changed;
  }
  const MeshConfig defaults_ = *DefaultMeshConfig();
  const SettingsPtr before_ = WithPrevious(SettingsOf(defaults_), nullptr);
};

TEST_F(SettingsPartsTest, EveryFieldIsInAPartOrUnread) {
  const auto* message = MeshConfig::descriptor();
  for (int i = 0; i < message->field_count(); ++i) {
    const std::string& name = message->field(i)->name();
    EXPECT_EQ(PartsThatList(name).empty(), Lists(UnreadFields(), name))
        << name << " must be in a part, or else among the fields that nothing reads";
  }
}

TEST_F(SettingsPartsTest, EveryListedFieldExists) {
  using google::protobuf::util::FieldMaskUtil;
  for (const SettingsPart part : AllParts()) {
    EXPECT_FALSE(FieldsOf(part).empty());
    for (const std::string_view path : FieldsOf(part)) {
      EXPECT_TRUE(FieldMaskUtil::IsValidPath<MeshConfig>(std::string(path))) << path;
    }
  }
  for (const std::string_view path : UnreadFields()) {
    EXPECT_TRUE(FieldMaskUtil::IsValidPath<MeshConfig>(std::string(path))) << path;
  }
}

TEST_F(SettingsPartsTest, AFieldChangesThePartsThatListIt) {
  const auto* message = MeshConfig::descriptor();
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor& field = *message->field(i);
    if (field.name() == kProxyConfigField) continue;
    MeshConfig mesh = defaults_;
    Change(field, &mesh);
    EXPECT_EQ(ChangedBy(mesh), PartsThatList(field.name())) << field.name();
  }
}

TEST_F(SettingsPartsTest, AFieldOfTheProxyConfigChangesThePartsThatListItOrTheWhole) {
  const auto* message = istio::mesh::v1alpha1::ProxyConfig::descriptor();
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor& field = *message->field(i);
    MeshConfig mesh = defaults_;
    Change(field, mesh.mutable_default_config());
    EXPECT_EQ(ChangedBy(mesh), PartsThatList(kProxyConfigField, field.name())) << field.name();
  }
}

TEST_F(SettingsPartsTest, APartHoldsItsFieldsAlone) {
  MeshConfig mesh = defaults_;
  mesh.mutable_default_config()->set_discovery_address("istiod:15012");
  mesh.mutable_default_config()->set_status_port(1);
  const MeshConfigPtr endpoints = WithPrevious(SettingsOf(mesh), nullptr)->Part(SettingsPart::kEndpoints);
  EXPECT_EQ(endpoints->default_config().discovery_address(), "istiod:15012");
  EXPECT_EQ(endpoints->default_config().status_port(), 0);
  EXPECT_EQ(endpoints->proxy_listen_port(), 0);
}

TEST_F(SettingsPartsTest, EqualSettingsAreTheSame) {
  EXPECT_EQ(WithPrevious(SettingsOf(defaults_), before_), before_);
  Settings other = SettingsOf(defaults_);
  other.cluster_id = "two";
  const SettingsPtr now = WithPrevious(other, before_);
  EXPECT_NE(now, before_);
  EXPECT_EQ(now->mesh, before_->mesh);
  EXPECT_EQ(now->networks, before_->networks);
  Settings networks = SettingsOf(defaults_);
  auto some = std::make_shared<MeshNetworks>();
  (*some->mutable_networks())["n"];
  networks.networks = some;
  EXPECT_NE(WithPrevious(networks, before_)->networks, before_->networks);
}

TEST_F(SettingsPartsTest, SettingsWithoutPartsAreWholeForEachReader) {
  const Settings made = SettingsOf(defaults_);
  for (const SettingsPart part : AllParts()) EXPECT_EQ(made.Part(part), made.mesh);
}

}  // namespace
}  // namespace fairlead::model
