#ifndef FAIRLEAD_WASM_UNBOX_H_
#define FAIRLEAD_WASM_UNBOX_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Modules out of what they come in, from servers that nobody vouches for. Pure, thread-safe; `most` bounds
// what is decompressed, in bytes: ResourceExhausted beyond it.
namespace fairlead::wasm {

// Whether bytes begin as a module: "\0asm" and a version.
bool IsModule(std::string_view bytes);

// The module that bytes are or hold: compressed by gzip or zstd, as the first file of a tar archive, or both.
// InvalidArgument where there is none.
absl::StatusOr<std::string> Unbox(std::string bytes, size_t most);

// The file of a name, in whatever folder, of a tar archive that may be compressed by gzip or zstd: a layer of
// an image. InvalidArgument where it is not there.
absl::StatusOr<std::string> FileOfLayer(std::string_view layer, std::string_view name, size_t most);

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_UNBOX_H_
