#ifndef FAIRLEAD_TESTS_CORPUS_NEIGHBOURS_H_
#define FAIRLEAD_TESTS_CORPUS_NEIGHBOURS_H_

#include <string>
#include <vector>

#include "tests/corpus/case.h"

namespace fairlead::corpus {

// The first answer that depends on who asked before: all proxies of a case and some neighbours that differ
// from them in labels, namespace and place ask one server's caches, in random orders, as of two meshes in
// turn. "": none does.
std::string FindWrongAnswer(const Case& one, const Case& other);

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_NEIGHBOURS_H_
