#include "tests/fuzz/stream_mesh.h"

#include <algorithm>
#include <memory>

#include "base/hash.h"
#include "base/strings.h"
#include "proto/wire.h"
#include "xds/wire.h"

namespace fairlead::fuzz {
namespace {

using xds::TypeId;

std::string Field(uint32_t number, std::string_view bytes) {
  std::string field;
  proto::AppendField(static_cast<int>(number), bytes, &field);
  return field;
}

std::string AnyOf(std::string_view url, std::string_view value) { return Field(1, url) + Field(2, value); }

}  // namespace

void StreamMesh::Put(TypeId type, const std::string& name, unsigned content, const Names& refers,
                     unsigned part) {
  constexpr std::array<size_t, 4> kSizes = {1, 2, 600, 17000};
  Item item;
  item.part = part;
  std::string value = Field(1, name);
  for (const std::string& other : refers) {
    value += Field(2, other);
    if (type == TypeId::kCluster && item.refers.empty()) {
      item.refers = {{TypeId::kEndpoint, other}};
    } else if (type == TypeId::kListener) {
      item.refers.insert(item.refers.end(), {{TypeId::kRoute, other}, {TypeId::kExtension, other}});
    }
  }
  value += Field(100, std::string(kSizes[content % kSizes.size()], 'x'));
  auto resource = std::make_shared<cache::Resource>();
  resource->name = name;
  resource->any = AnyOf(xds::InfoOf(type).url, value);
  resource->hash = StableHash(resource->any.plain());
  for (const auto& [other_type, other] : item.refers)
    resource->references.push_back({other_type, Interned(other)});
  std::sort(resource->references.begin(), resource->references.end());
  item.resource = std::move(resource);
  Of(type)[name] = std::move(item);
}

xds::ResourceSetPtr StreamMesh::Make(TypeId type, const xds::NameSet* names) const {
  std::vector<std::vector<xds::ResourcePtr>> parts(kParts);
  for (const auto& [name, item] : Of(type)) {
    if (names == nullptr || names->Contains(name)) parts[item.part].push_back(item.resource);
  }
  std::vector<xds::ResourceListPtr> lists;
  lists.reserve(parts.size());
  for (auto& part : parts) lists.push_back(xds::ResourceList::Of(std::move(part)));
  return xds::ResourceSet::Of(std::move(lists));
}

std::string NameInside(std::string_view any) {
  std::string_view value, name;
  for (xds::FieldReader field(any); field.Next();) {
    if (field.number() == 2) value = field.bytes();
  }
  for (xds::FieldReader field(value); field.Next();) {
    if (field.number() == 1) name = field.bytes();
  }
  return std::string(name);
}

}  // namespace fairlead::fuzz
