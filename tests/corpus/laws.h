#ifndef FAIRLEAD_TESTS_CORPUS_LAWS_H_
#define FAIRLEAD_TESTS_CORPUS_LAWS_H_

#include <string>
#include <vector>

#include "tests/corpus/case.h"

// What must hold for every mesh, whatever it is made of, checked on a case without its golden:
//   order        shuffled objects give the same bytes
//   increments   objects applied one by one equal all at once
//   caches       cached equals uncached
//   re-applied   an object that did not change changes nothing
//   re-added     deleting and adding an object again restores everything
//   references   resources say what they refer to, and every endpoint and route configuration that is asked
//   for
//                exists
//   fold         what a connected proxy was told, folded, is at any time what a new one gets: both variants
//   of
//                the protocol, all types, whether or not the proxy lets go of what nothing refers to any more
//   neighbours   any order of asking, and any neighbour on the same server, gives what a new server gives: as
//   of two meshes
//                that are there at once
namespace fairlead::corpus {

// The laws that a case breaks, each with the first proxy and resource that shows it; empty: none. `before` is
// any other case: a mesh that becomes this one's under connected proxies.
std::vector<std::string> BrokenLaws(const Case& one, const Case& before);

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_LAWS_H_
