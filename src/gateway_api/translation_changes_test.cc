#include <gtest/gtest.h>

#include <map>

#include "gateway_api/test_mesh.h"
#include "gateway_api/test_script.h"

// Whatever is changed in whatever order, a translation is what its objects make it.
namespace fairlead::gateway_api {
namespace {

using Derived = std::map<config::ObjectKey, Hash128>;

Derived TextOf(const config::ObjectStore& store) {
  Derived derived;
  for (const config::KindInfo& kind : config::AllKinds()) {
    for (const auto& [name, object] : store.All(kind.kind)) derived[KeyOf(*object)] = object->content_hash();
  }
  return derived;
}

Derived OfAFreshOne(const config::ObjectStore& objects) {
  std::vector<config::ObjectChange> all;
  for (const config::KindInfo& kind : config::AllKinds()) {
    for (const auto& [name, object] : objects.All(kind.kind)) all.push_back({KeyOf(*object), object});
  }
  Translation fresh("cluster.local");
  config::ObjectStore derived;
  derived.Apply(fresh.Apply(objects, all));
  return TextOf(derived);
}

class Changes : public testing::TestWithParam<uint32_t> {};

TEST_P(Changes, EndWhereAFreshTranslationDoes) {
  Script script(GetParam());
  config::ObjectStore objects, derived;
  Translation translation("cluster.local");
  size_t made = 0;
  for (int step = 0; step < 150; ++step) {
    std::vector<config::ObjectChange> changes;
    for (int left = 1 + script.Dice(3); left > 0; --left) {
      const config::ParseResult parsed =
          config::ParseManifests(script.Manifest(), "test.yaml", config::Admission::kPassed);
      ASSERT_EQ(parsed.objects.size(), 1) << ToText(parsed.diagnostics.at(0));
      const config::ConfigPtr& object = parsed.objects[0];
      changes.push_back({KeyOf(*object), script.Dice(4) == 0 ? nullptr : object});
    }
    derived.Apply(translation.Apply(objects, objects.Apply(changes)));
    ASSERT_EQ(TextOf(derived), OfAFreshOne(objects)) << "step " << step;
    made += derived.size();
  }
  EXPECT_GT(made, 100) << "the script makes nothing";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Changes, testing::Range(1u, 9u));

}  // namespace
}  // namespace fairlead::gateway_api
