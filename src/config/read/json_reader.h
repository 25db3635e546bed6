#ifndef FAIRLEAD_CONFIG_READ_JSON_READER_H_
#define FAIRLEAD_CONFIG_READ_JSON_READER_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "config/read/json_fields.h"
#include "config/tree.h"

namespace fairlead::config {

// Reads JSON texts into Trees in one pass; its buffers serve one text after the other. Nodes have no lines
// (0). Nesting is at most 200 levels deep. What is skipped is checked no further than for its end. One thread
// at a time.
class JsonReader {
 public:
  JsonReader();
  ~JsonReader();

  // `fields`: what is read; null for everything. InvalidArgument where the text is no JSON; the message
  // quotes nothing of it. The tree does not refer to the text.
  absl::StatusOr<Tree> Read(std::string_view text, const JsonFields* fields = nullptr);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_JSON_READER_H_
