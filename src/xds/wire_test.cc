#include "xds/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "xds/request.h"
#include "xds/response.h"

namespace fairlead::xds {
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

ResourcePtr MakeResource(const std::string& name, size_t size) {
  google::protobuf::Any any;
  any.set_type_url("type.googleapis.com/x");
  any.set_value(std::string(size, 'v'));
  auto resource = std::make_shared<cache::Resource>();
  resource->name = name;
  resource->any = any.SerializeAsString();
  resource->hash = StableHash(resource->any.plain());
  return resource;
}

std::string Flatten(const Frame& frame) {
  std::string out;
  for (const Piece& piece : frame) out.append(piece.bytes);
  return out;
}

Response MakeResponse() {
  Response response;
  response.type = TypeId::kListener;
  response.version = "v";
  response.nonce = "n";
  response.lists = {ResourceList::Of({MakeResource("small", 10), MakeResource("large", 5000)})};
  response.resources = {MakeResource("single", 100), MakeResource("shared", 3000)};
  return response;
}

TEST(Wire, AStateOfTheWorldRequestIsReadAsProtobufReadsIt) {
  DiscoveryRequest sent;
  sent.set_version_info("v1");
  sent.mutable_node()->set_id("sidecar~1.1.1.1~a.b~c");
  sent.add_resource_names("x");
  sent.add_resource_names(std::string(300, 'y'));
  sent.add_resource_locators()->set_name("z");
  sent.set_type_url("t");
  sent.set_response_nonce("n1");
  sent.mutable_error_detail()->set_code(13);
  sent.mutable_error_detail()->set_message("no");
  const std::string bytes = sent.SerializeAsString();
  const auto read = DecodeRequest(Framing::kStateOfTheWorld, bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->version, "v1");
  EXPECT_EQ(read->node, sent.node().SerializeAsString());
  EXPECT_THAT(read->subscribe, ElementsAre("x", std::string(300, 'y'), "z"));
  EXPECT_EQ(read->type_url, "t");
  EXPECT_EQ(read->nonce, "n1");
  EXPECT_TRUE(read->rejected);
  EXPECT_EQ(read->error_code, 13);
  EXPECT_EQ(read->error_message, "no");
}

TEST(Wire, KnownNamesAreNotReadAgain) {
  DiscoveryRequest sent;
  sent.set_version_info("v1");
  for (const char* name : {"x", "y", ""}) sent.add_resource_names(name);
  sent.set_type_url("t");
  const auto read = [&](const KnownNames& known, const DiscoveryRequest& request) {
    static std::string bytes;  // what is read points into it
    bytes = request.SerializeAsString();
    return *DecodeRequest(Framing::kStateOfTheWorld, bytes, std::array{KnownNames{}, known});
  };
  const KnownNames known = KnownNames::Of(read({}, sent).encoded_names);
  const DecodedRequest repeated = read(known, sent);
  EXPECT_EQ(repeated.known_names, known);
  EXPECT_THAT(repeated.subscribe, IsEmpty());
  EXPECT_EQ(repeated.type_url, "t");

  DiscoveryRequest longer = sent, other = sent;
  longer.add_resource_names("z");
  EXPECT_THAT(read(known, longer).subscribe, ElementsAre("x", "y", "", "z"));
  other.set_resource_names(0, "X");
  EXPECT_THAT(read(known, other).subscribe, ElementsAre("X", "y", ""));
  EXPECT_FALSE(read(known, other).known_names);
  // Names of two kinds, which protobuf reads wherever they stand.
  DiscoveryRequest locators = sent;
  locators.add_resource_locators()->set_name("z");
  EXPECT_THAT(read(known, locators).subscribe, ElementsAre("x", "y", "", "z"));
  EXPECT_EQ(read(known, locators).encoded_names, "") << "they are not all of them";
}

TEST(Wire, NamesThatStandApartAreReadInOrder) {
  DiscoveryRequest first, second;
  first.add_resource_names("x");
  first.set_type_url("t");
  second.add_resource_names("y");
  const std::string bytes = first.SerializeAsString() + second.SerializeAsString();
  const auto apart = DecodeRequest(Framing::kStateOfTheWorld, bytes);
  ASSERT_TRUE(apart.ok());
  EXPECT_THAT(apart->subscribe, ElementsAre("x", "y"));
  EXPECT_EQ(apart->encoded_names, "");
  // The first of them is known, all of them are not.
  const std::string name = first.SerializeAsString().substr(0, 3);
  const auto known = DecodeRequest(Framing::kStateOfTheWorld, bytes, std::array{KnownNames::Of(name)});
  ASSERT_TRUE(known.ok());
  EXPECT_FALSE(known->known_names);
  EXPECT_THAT(known->subscribe, ElementsAre("x", "y"));
}

TEST(Wire, ADeltaRequestIsReadAsProtobufReadsIt) {
  DeltaDiscoveryRequest sent;
  sent.mutable_node()->set_id("id");
  sent.set_type_url("t");
  sent.add_resource_names_subscribe("s");
  sent.add_resource_names_unsubscribe("u");
  (*sent.mutable_initial_resource_versions())["i"] = "1";
  sent.set_response_nonce("n1");
  const std::string bytes = sent.SerializeAsString();
  const auto read = DecodeRequest(Framing::kDelta, bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->node, sent.node().SerializeAsString());
  EXPECT_EQ(read->type_url, "t");
  EXPECT_THAT(read->subscribe, ElementsAre("s"));
  EXPECT_THAT(read->unsubscribe, ElementsAre("u"));
  EXPECT_THAT(read->initial_versions, ElementsAre(Pair("i", "1")));
  EXPECT_EQ(read->nonce, "n1");
  EXPECT_FALSE(read->rejected);
}

TEST(Wire, BrokenRequestsAreRefused) {
  DiscoveryRequest sent;
  sent.set_type_url("type");
  sent.mutable_error_detail()->set_message("message");
  const std::string bytes = sent.SerializeAsString();
  size_t refused = 0;
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    if (!DecodeRequest(Framing::kStateOfTheWorld, std::string_view(bytes).substr(0, cut)).ok()) ++refused;
  }
  EXPECT_EQ(refused, bytes.size() - 2) << "all prefixes but the one that ends between the two fields";
  EXPECT_FALSE(DecodeRequest(Framing::kDelta, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").ok());
  EXPECT_FALSE(DecodeRequest(Framing::kDelta, std::string("\x0b", 1)).ok()) << "a group";
}

TEST(Wire, AStateOfTheWorldResponseIsWhatProtobufReads) {
  const Response response = MakeResponse();
  const Frame frame = Encode(Framing::kStateOfTheWorld, response);
  DiscoveryResponse read;
  ASSERT_TRUE(read.ParseFromString(Flatten(frame)));
  EXPECT_EQ(SizeOf(frame), read.ByteSizeLong());
  EXPECT_EQ(read.version_info(), "v");
  EXPECT_EQ(read.nonce(), "n");
  EXPECT_EQ(read.type_url(), InfoOf(TypeId::kListener).url);
  ASSERT_EQ(read.resources_size(), 4);
  EXPECT_EQ(read.resources(1).SerializeAsString(), response.lists[0]->resources()[1]->any.Unpacked());
  EXPECT_EQ(read.resources(3).SerializeAsString(), response.resources[1]->any.Unpacked());
}

TEST(Wire, ADeltaResponseIsWhatProtobufReads) {
  Response response = MakeResponse();
  response.removed = {"gone"};
  const Frame frame = Encode(Framing::kDelta, response);
  DeltaDiscoveryResponse read;
  ASSERT_TRUE(read.ParseFromString(Flatten(frame)));
  EXPECT_EQ(read.system_version_info(), "v");
  EXPECT_EQ(read.nonce(), "n");
  EXPECT_EQ(read.type_url(), InfoOf(TypeId::kListener).url);
  EXPECT_THAT(read.removed_resources(), ElementsAre("gone"));
  ASSERT_EQ(read.resources_size(), 4);
  EXPECT_EQ(read.resources(0).name(), "small");
  EXPECT_EQ(read.resources(3).name(), "shared");
  EXPECT_EQ(read.resources(3).version(), ToHex(response.resources[1]->hash));
  EXPECT_EQ(read.resources(3).resource().SerializeAsString(), response.resources[1]->any.Unpacked());
}

TEST(Wire, APlainResponseNamesTheControlPlane) {
  const PlainResponse response = {.type_url = "t", .removed = {"gone"}, .control_plane = "me"};
  DiscoveryResponse sotw;
  ASSERT_TRUE(sotw.ParseFromString(Flatten(Encode(Framing::kStateOfTheWorld, response))));
  EXPECT_EQ(sotw.control_plane().identifier(), "me");
  DeltaDiscoveryResponse delta;
  ASSERT_TRUE(delta.ParseFromString(Flatten(Encode(Framing::kDelta, response))));
  EXPECT_EQ(delta.control_plane().identifier(), "me");
  EXPECT_THAT(delta.removed_resources(), ElementsAre("gone"));
}

TEST(Wire, WhatIsLargeIsSharedNotCopied) {
  const Response response = MakeResponse();
  response.lists[0]->Body(Framing::kStateOfTheWorld);  // the first one is not kept
  const Frame one = Encode(Framing::kStateOfTheWorld, response),
              two = Encode(Framing::kStateOfTheWorld, response);
  ASSERT_EQ(one.size(), 4u);  // header, the list's body, prefix and small resource, the large one
  EXPECT_EQ(one[1].bytes.data(), two[1].bytes.data());
  EXPECT_EQ(one[3].bytes.data(), response.resources[1]->any.plain().data());
}

TEST(Wire, WhatIsPackedIsUnpackedOnceForThoseWhoSendItTogether) {
  cache::BytePacker packer;
  const ResourcePtr first = MakeResource("dictionary", 3000);
  packer.Pack("x", first->any.plain());
  auto packed = std::make_shared<cache::Resource>();
  packed->name = "packed";
  const std::string bytes = MakeResource("packed", 3010)->any.Unpacked();
  packed->any = packer.Pack("x", bytes);
  ASSERT_TRUE(packed->any.packed());
  Response response;
  response.type = TypeId::kListener;
  response.resources = {packed};
  const Frame a = Encode(Framing::kStateOfTheWorld, response), b = Encode(Framing::kDelta, response);
  EXPECT_EQ(a.back().bytes, bytes);
  EXPECT_EQ(a.back().bytes.data(), b.back().bytes.data());
}

TEST(Wire, AChangeIsEncodedOnceForItsClientsUntilItIsIdle) {
  Response response;
  response.type = TypeId::kListener;
  response.resources = {MakeResource("a", 10), MakeResource("b", 20), MakeResource("large", 40'000),
                        MakeResource("c", 30)};
  Encode(Framing::kDelta, response);  // the first one is not kept: there may be one client of it
  const Frame one = Encode(Framing::kDelta, response), two = Encode(Framing::kDelta, response);
  ASSERT_EQ(one.size(), 4u);  // header, what is copied, the large one, what is copied
  for (size_t i = 1; i < one.size(); ++i) EXPECT_EQ(one[i].bytes.data(), two[i].bytes.data()) << i;
  DeltaDiscoveryResponse read;
  ASSERT_TRUE(read.ParseFromString(Flatten(two)));
  ASSERT_EQ(read.resources_size(), 4);
  EXPECT_EQ(read.resources(3).resource().SerializeAsString(), response.resources[3]->any.Unpacked());

  DiscoveryResponse sotw;
  ASSERT_TRUE(sotw.ParseFromString(Flatten(Encode(Framing::kStateOfTheWorld, response))));
  EXPECT_EQ(sotw.resources_size(), 4);
  std::swap(response.resources[0], response.resources[1]);
  ASSERT_TRUE(read.ParseFromString(Flatten(Encode(Framing::kDelta, response))));
  EXPECT_EQ(read.resources(0).name(), "b") << "another order is another change";

  const std::string sent = Flatten(two);
  EXPECT_EQ(DropIdleChanges(), 0u) << "used since the last time";
  EXPECT_GT(DropIdleChanges(), 2 * 40'000u);
  EXPECT_EQ(Flatten(two), sent) << "a message keeps its bytes";
}

TEST(ResourceSets, EqualListsAreOneAndBodiesGoWhenIdle) {
  const ResourcePtr a = MakeResource("a", 1), b = MakeResource("b", 1);
  const ResourceListPtr list = ResourceList::Of({a, b});
  EXPECT_EQ(list, ResourceList::Of({a, b}));
  EXPECT_NE(list, ResourceList::Of({b, a}));
  EXPECT_EQ(list->hash(), ResourceList::Of({b, a})->hash());
  const std::weak_ptr<const Pieces> first = list->Body(Framing::kDelta);
  EXPECT_TRUE(first.expired()) << "kept although there may be but one client that has the list";
  const std::weak_ptr<const Pieces> body = list->Body(Framing::kDelta);
  ResourceList::DropIdleBodies();
  EXPECT_FALSE(body.expired()) << "used since the last time";
  ResourceList::DropIdleBodies();
  EXPECT_TRUE(body.expired());
}

TEST(ResourceSets, AResourceThatMovesBetweenPartsIsUnchanged) {
  const ResourcePtr a = MakeResource("a", 1), b = MakeResource("b", 1), b2 = MakeResource("b", 2),
                    c = MakeResource("c", 1);
  const ResourceSetPtr before = ResourceSet::Of({ResourceList::Of({a, b}), ResourceList::Of({c})});
  EXPECT_TRUE(Compare(*before, *ResourceSet::Of({ResourceList::Of({a}), ResourceList::Of({b, c})}))->empty());
  const DifferencePtr difference =
      Compare(*before, *ResourceSet::Of({ResourceList::Of({a}), ResourceList::Of({b2})}));
  EXPECT_THAT(difference->changed, ElementsAre(b2));
  EXPECT_THAT(difference->removed, ElementsAre(c));
}

TEST(ResourceSets, ManyClientsShareADifference) {
  const ResourcePtr a = MakeResource("a", 1), b = MakeResource("b", 1), b2 = MakeResource("b", 2);
  const ResourceListPtr own = ResourceList::Of({MakeResource("own", 1)}), other = ResourceList::Of({a});
  const ResourceListPtr before = ResourceList::Of({a, b}), after = ResourceList::Of({a, b2});
  const auto compare = [](std::vector<ResourceListPtr> from, std::vector<ResourceListPtr> to) {
    return Compare(*ResourceSet::Of(std::move(from)), *ResourceSet::Of(std::move(to)));
  };
  const DifferencePtr difference = compare({before, own}, {after, own});
  EXPECT_THAT(difference->changed, ElementsAre(b2));
  EXPECT_THAT(difference->replaced, ElementsAre(b));
  EXPECT_EQ(compare({before, other}, {after, other}), difference);
  EXPECT_TRUE(compare({after, own}, {after, own})->empty());
  EXPECT_THAT(compare({after}, {before})->changed, ElementsAre(b));
}

TEST(ResourceSets, OfTheSameListsAreOneAndFoundByTheirHash) {
  const ResourceListPtr one = ResourceList::Of({MakeResource("of a set", 1)}),
                        two = ResourceList::Of({MakeResource("of the set", 1)});
  const ResourceSetPtr set = ResourceSet::Of({one, two});
  EXPECT_EQ(ResourceSet::Of({one, two}), set);
  EXPECT_EQ(ResourceSet::WithHash(set->hash()), set);
  EXPECT_THAT(set->Names()->names(), ElementsAre("of a set", "of the set"));

  ResourceSetPtr otherwise = ResourceSet::Of({two, one});
  EXPECT_NE(otherwise, set);
  EXPECT_EQ(otherwise->hash(), set->hash());
  EXPECT_EQ(otherwise->Names(), set->Names());
  EXPECT_EQ(ResourceSet::WithHash(set->hash()), otherwise) << "the latest";
  otherwise = nullptr;
  EXPECT_EQ(ResourceSet::WithHash(set->hash()), nullptr) << "nobody has it any more";
}

}  // namespace
}  // namespace fairlead::xds
