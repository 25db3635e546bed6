#include "agent/notice.h"

#include <unistd.h>

#include <string>

#include "agent/envoy_output.h"
#include "base/strings.h"

namespace fairlead::agent {

// Without a wait: a reader that reads nothing must not stop who supervises Envoy.
void Say(std::string_view text) {
  static const OutputTarget target(STDERR_FILENO);
  const std::string line = StrCat("fairlead agent: ", text, "\n");
  static_cast<void>(target.Write(line.data(), line.size()).ok());
}

}  // namespace fairlead::agent
