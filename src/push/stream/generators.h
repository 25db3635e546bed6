#ifndef FAIRLEAD_PUSH_STREAM_GENERATORS_H_
#define FAIRLEAD_PUSH_STREAM_GENERATORS_H_

#include "push/stream/part_cache.h"

// Which generators there are.
namespace fairlead::push {

// Of every type that is served.
Generators MakeGenerators();
// What proxies get instead that name a GENERATOR.
GeneratorVariants MakeGeneratorVariants();

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_GENERATORS_H_
