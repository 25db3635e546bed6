#ifndef FAIRLEAD_GEN_RESOURCE_UNKNOWN_ANSWER_H_
#define FAIRLEAD_GEN_RESOURCE_UNKNOWN_ANSWER_H_

#include <functional>
#include <string_view>

#include "cache/resource.h"

namespace fairlead::gen {

// The answer to a name that stands for nothing. Clients invent such names, so caches must not keep them. All
// askers share one resource, and it lives as long as one of them has it. INVARIANT: what `make` returns
// depends on type and name alone. Thread-safe.
cache::ResourcePtr UnknownAnswer(cache::TypeId type, std::string_view name,
                                 const std::function<cache::ResourcePtr()>& make);

// How many there are, and how many entries they take, for tests.
struct UnknownAnswerCount {
  size_t alive, entries;
};
UnknownAnswerCount CountUnknownAnswers();

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_RESOURCE_UNKNOWN_ANSWER_H_
