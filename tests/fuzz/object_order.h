#ifndef FAIRLEAD_TESTS_FUZZ_OBJECT_ORDER_H_
#define FAIRLEAD_TESTS_FUZZ_OBJECT_ORDER_H_

#include <cstddef>
#include <vector>

#include "config/store.h"
#include "tests/fuzz/choices.h"

namespace fairlead::fuzz {

// What objects become does not depend on the order in which they come, nor on what was there in between, and
// what goes leaves nothing behind. A Mesh has Apply(changes) and Derived(). `with_all` looks at one that has
// them all.
template <typename Mesh, typename Look>
void RequireSameInAnyOrder(const std::vector<config::ConfigPtr>& objects, const Look& with_all) {
  std::vector<config::ObjectChange> all, none;
  for (const config::ConfigPtr& object : objects) {
    all.push_back({config::KeyOf(*object), object});
    none.push_back({config::KeyOf(*object), nullptr});
  }
  Mesh at_once, one_by_one;
  at_once.Apply(all);
  for (auto change = all.rbegin(); change != all.rend(); ++change) one_by_one.Apply({*change});
  Require(at_once.Derived() == one_by_one.Derived(), "the order of objects matters");
  for (size_t i = 0; i < all.size(); i += 2) one_by_one.Apply({none[i]});
  for (size_t i = 0; i < all.size(); i += 2) one_by_one.Apply({all[i]});
  Require(at_once.Derived() == one_by_one.Derived(), "objects that went and came matter");
  with_all(at_once, all);
  at_once.Apply(none);
  Require(at_once.Derived().empty(), "something is left behind");
}

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_OBJECT_ORDER_H_
