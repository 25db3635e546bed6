#include "tests/corpus/laws.h"

#include <google/protobuf/any.pb.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string_view>

#include "base/strings.h"
#include "model/proxy_class.h"
#include "model/proxyless.h"
#include "tests/corpus/fold.h"
#include "tests/corpus/generate.h"
#include "tests/corpus/mesh_of_objects.h"
#include "tests/corpus/neighbours.h"
#include "tests/references/read_references.h"

namespace fairlead::corpus {
namespace {

using config::ConfigPtr;
using Hashes = std::map<std::string, Hash128>;  // "proxy kind name" -> hash of the bytes

Hashes HashesOf(const Case& one, const mesh::MeshSnapshot& snapshot, Generators* generators) {
  Hashes hashes;
  for (const NamedProxy& proxy : one.proxies) {
    for (const auto& [kind, resources] : generators->For(snapshot, proxy.proxy, nullptr)) {
      for (const auto& resource : resources)
        hashes[StrCat(proxy.name, " ", kind, " ", resource->name.str())] = resource->hash;
    }
  }
  return hashes;
}

// Adds "law: where" if the two differ.
void Expect(std::string_view law, const Hashes& got, const Hashes& want, std::vector<std::string>* broken) {
  if (got == want) return;
  for (const auto& [key, hash] : want) {
    auto it = got.find(key);
    if (it == got.end() || it->second != hash) {
      broken->push_back(StrCat(law, ": ", key, it == got.end() ? " is missing" : " differs"));
      return;
    }
  }
  for (const auto& [key, hash] : got) {
    if (!want.contains(key)) {
      broken->push_back(StrCat(law, ": ", key, " is too much"));
      return;
    }
  }
}

// About so many of the objects: deleting every one in turn would be quadratic.
std::vector<ConfigPtr> Spread(const std::vector<ConfigPtr>& objects, size_t most) {
  std::vector<ConfigPtr> some;
  for (size_t i = 0; i < objects.size(); i += objects.size() / most + 1) some.push_back(objects[i]);
  return some;
}

void CheckOrder(const Case& one, const Hashes& want, std::vector<std::string>* broken) {
  std::vector<ConfigPtr> objects = one.objects;
  std::shuffle(objects.begin(), objects.end(), std::mt19937(4711));
  MeshOfObjects mesh(one.settings);
  Generators generators;
  Expect("order", HashesOf(one, *mesh.Apply(objects), &generators), want, broken);
}

// One mesh and one set of caches go through a life of changes, and must end where a new one starts.
void CheckChanges(const Case& one, const Hashes& want, std::vector<std::string>* broken) {
  MeshOfObjects mesh(one.settings);
  Generators generators;
  mesh::SnapshotPtr snapshot = mesh.Apply({});
  for (const ConfigPtr& object : one.objects) {
    snapshot = mesh.Apply({object});
    HashesOf(one, *snapshot, &generators);  // fills the caches on the way
  }
  Expect("increments", HashesOf(one, *snapshot, &generators), want, broken);
  Generators fresh;
  Expect("caches", HashesOf(one, *snapshot, &fresh), want, broken);
  if (mesh.CountChanges(one.objects) != 0)
    broken->push_back("re-applied: an unchanged object counts as a change");

  for (const ConfigPtr& object : Spread(one.objects, 12)) {
    HashesOf(one, *mesh.Remove(object), &generators);
    snapshot = mesh.Apply({object});
  }
  Expect("re-added", HashesOf(one, *snapshot, &generators), want, broken);
}

// Clients that stay connected through a life of changes hold after each of them what a new one would get.
void CheckFold(const Case& one, const Case& before, std::vector<std::string>* broken) {
  FoldingClients clients(one);
  MeshOfObjects mesh(before.settings);
  const auto holds = [&](const std::string& when, const mesh::SnapshotPtr& snapshot) {
    const std::string stale = clients.Follow(snapshot);
    if (!stale.empty()) broken->push_back(StrCat("fold: ", when, ": ", stale));
    return stale.empty();
  };
  if (!holds(StrCat("connected to ", before.name), mesh.Apply(before.objects))) return;
  if (!holds(StrCat("changed from ", before.name), mesh.Become(one.objects, one.settings))) return;
  for (const ConfigPtr& object : Spread(one.objects, 4)) {
    const std::string what = StrCat(config::InfoOf(object->kind()).name, " ", object->name().str());
    if (!holds(StrCat("without ", what), mesh.Remove(object))) return;
    if (!holds(StrCat("again with ", what), mesh.Apply({object}))) return;
  }
}

// Says of the first resource that does not refer to what is found in it.
void CheckSaid(const std::vector<cache::ResourcePtr>& resources, std::string_view where,
               std::vector<std::string>* broken) {
  for (const cache::ResourcePtr& resource : resources) {
    google::protobuf::Any any;
    if (any.ParseFromString(resource->any.Unpacked()) && ReadReferences(any) == resource->references)
      continue;
    broken->push_back(
        StrCat("references: ", where, " ", resource->name.str(), " refers to others than it says"));
    return;
  }
}

void CheckReferences(const Case& one, std::vector<std::string>* broken) {
  MeshOfObjects mesh(one.settings);
  Generators generators;
  const mesh::SnapshotPtr snapshot = mesh.Apply(one.objects);
  for (const NamedProxy& proxy : one.proxies) {
    const Resources resources = generators.For(*snapshot, proxy.proxy, nullptr);
    for (const auto& [kind, made] : resources) CheckSaid(made, StrCat(proxy.name, " ", kind), broken);
    for (const auto& [kind, asked] : AskedFor(resources)) {
      std::set<std::string> there;
      if (auto it = resources.find(kind); it != resources.end()) {
        for (const auto& resource : it->second) there.insert(resource->name.str());
      }
      for (const std::string& name : asked) {
        if (there.contains(name)) continue;
        broken->push_back(StrCat("references: ", proxy.name, " ", kind, " ", name, " does not exist"));
      }
    }
  }
}

// The case with one proxy more: its first sidecar as a gRPC client that needs no proxy.
Case WithProxyless(Case one) {
  for (const NamedProxy& named : one.proxies) {
    if (named.proxy->type != model::ProxyType::kSidecar) continue;
    auto proxy = std::make_shared<model::Proxy>(*named.proxy);
    proxy->metadata.generator = model::kGrpcGenerator;
    proxy->proxy_class = model::ClassOf(*proxy);
    one.proxies.push_back({named.name + " without proxy", std::move(proxy)});
    break;
  }
  return one;
}

}  // namespace

std::vector<std::string> BrokenLaws(const Case& as_it_is, const Case& before) {
  const Case one = WithProxyless(as_it_is);
  std::vector<std::string> broken;
  MeshOfObjects mesh(one.settings);
  Generators generators;
  const Hashes want = HashesOf(one, *mesh.Apply(one.objects), &generators);
  CheckOrder(one, want, &broken);
  CheckChanges(one, want, &broken);
  CheckReferences(one, &broken);
  CheckFold(as_it_is, before, &broken);
  const std::string wrong = FindWrongAnswer(as_it_is, before);
  if (!wrong.empty()) broken.push_back(StrCat("neighbours: ", wrong));
  return broken;
}

}  // namespace fairlead::corpus
