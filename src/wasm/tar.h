#ifndef FAIRLEAD_WASM_TAR_H_
#define FAIRLEAD_WASM_TAR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead::wasm {

// Reads a tar archive in memory: ustar, with pax headers and GNU's long names.
// Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block".
class TarReader {
 public:
  struct File {
    std::string name;
    std::string_view content;  // of the archive's bytes
  };
  explicit TarReader(std::string_view archive) : rest_(archive) {}
  // The next regular file; nothing at the end. InvalidArgument where the archive is broken.
  absl::StatusOr<std::optional<File>> Next();
  // Whether bytes begin with a header of ustar.
  static bool IsTar(std::string_view bytes);

 private:
  // Takes an entry's content and what fills its last block.
  absl::StatusOr<std::string_view> Take(uint64_t size);
  void ReadPax(std::string_view records);

  std::string_view rest_;
  std::string long_name_;              // of the file that follows
  std::optional<uint64_t> long_size_;  // the same
};

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_TAR_H_
