#ifndef FAIRLEAD_REDIRECT_NFT_SCRIPT_H_
#define FAIRLEAD_REDIRECT_NFT_SCRIPT_H_

#include <string>

#include "absl/status/statusor.h"
#include "redirect/options.h"
#include "redirect/program_call.h"

namespace fairlead::redirect {

// The input of `nft -f -` for the options, which are filled in and checked: three tables of both IP versions,
// each flushed first; with options.clean_up they are deleted. It applies as a whole or not at all, and again
// with the same result. A pure function. InvalidArgument names a wrong range.
absl::StatusOr<std::string> MakeNftScript(const RedirectOptions& options);

// Unavailable with nft's words.
absl::Status ApplyNft(const RedirectOptions& options, const RunProgram& run);

// Whether the tables of the options are there, each with as many rules as the script has. NotFound says which
// is not.
absl::Status VerifyNft(const RedirectOptions& options, const RunProgram& run);

}  // namespace fairlead::redirect

#endif  // FAIRLEAD_REDIRECT_NFT_SCRIPT_H_
