#ifndef FAIRLEAD_TESTS_FUZZ_ANY_CLIENT_H_
#define FAIRLEAD_TESTS_FUZZ_ANY_CLIENT_H_

#include <string>

#include "push/stream/stream.h"
#include "tests/fuzz/choices.h"
#include "xds/types.h"

// What clients of any sort may send, by choice.
namespace fairlead::fuzz {

// An encoded Node: of any type, with any GENERATOR, and metadata of known and unknown keys whose values are
// as they should be, or of any other type.
std::string ChooseNode(Choices* choices);

// How a client speaks: aggregated or of one type, state of the world, delta, a single request or a poll.
push::StreamOptions ChooseOptions(Choices* choices);

// The URL of a type, of those that hold no configuration too, or of none.
std::string ChooseUrl(Choices* choices, const push::StreamOptions& options);

// An encoded request. `nonce`: of the last response, which it may answer; "" before the first. `node`: an
// encoded one; "": none is sent.
std::string ChooseRequest(Choices* choices, const push::StreamOptions& options, const std::string& nonce,
                          const std::string& node);

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_ANY_CLIENT_H_
