#include "agent/notice.h"

#include <cstdio>

namespace fairlead::agent {

void Say(std::string_view text) {
  std::fprintf(stderr, "fairlead agent: %.*s\n", int(text.size()), text.data());
}

}  // namespace fairlead::agent
