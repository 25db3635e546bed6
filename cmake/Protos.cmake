# C++ from the Envoy, xDS and Istio APIs: target fairlead_protos, headers below ${FAIRLEAD_GEN}.
# src/proto/roots.txt says which files; scripts/descriptors.py makes the descriptor sets at configure time.
set(FAIRLEAD_GEN ${CMAKE_BINARY_DIR}/gen)
set(FAIRLEAD_DESCRIPTORS ${CMAKE_BINARY_DIR}/descriptors)
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
find_program(PYTHON3 python3 REQUIRED)

file(GLOB_RECURSE own_protos CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/proto/own/*.proto)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/scripts/descriptors.py ${CMAKE_SOURCE_DIR}/scripts/wire.py
  ${CMAKE_SOURCE_DIR}/src/proto/roots.txt ${own_protos}
  ${FAIRLEAD_DEPS}/.stamp-python ${FAIRLEAD_DEPS}/.stamp-schemas)
execute_process(
  COMMAND ${PYTHON3} -B ${CMAKE_SOURCE_DIR}/scripts/descriptors.py
    --deps ${FAIRLEAD_DEPS} --own ${CMAKE_SOURCE_DIR}/src/proto/own
    --roots ${CMAKE_SOURCE_DIR}/src/proto/roots.txt --out ${FAIRLEAD_DESCRIPTORS}
  COMMAND_ERROR_IS_FATAL ANY)

# Services that a client stub is wanted for, in tests and in the agent.
set(stub_protos
  envoy/service/discovery/v3/ads.proto
  envoy/service/secret/v3/sds.proto
  envoy/service/status/v3/csds.proto
  istio/security/v1alpha1/ca.proto)

file(STRINGS ${FAIRLEAD_DESCRIPTORS}/generated.txt protos)
list(TRANSFORM protos REPLACE "\\.proto$" "" OUTPUT_VARIABLE stems)
list(TRANSFORM stems PREPEND ${FAIRLEAD_GEN}/)
set(sources ${stems})
set(headers ${stems})
list(TRANSFORM sources APPEND .pb.cc)
list(TRANSFORM headers APPEND .pb.h)
list(TRANSFORM stub_protos REPLACE "\\.proto$" "" OUTPUT_VARIABLE stub_stems)
list(TRANSFORM stub_stems PREPEND ${FAIRLEAD_GEN}/)
set(stub_sources ${stub_stems})
set(stub_headers ${stub_stems})
list(TRANSFORM stub_sources APPEND .grpc.pb.cc)
list(TRANSFORM stub_headers APPEND .grpc.pb.h)

file(MAKE_DIRECTORY ${FAIRLEAD_GEN})
add_custom_command(
  OUTPUT ${sources} ${headers} ${stub_sources} ${stub_headers}
  COMMAND ${PROTOC} --descriptor_set_in=${FAIRLEAD_DESCRIPTORS}/generate.binpb --cpp_out=${FAIRLEAD_GEN} ${protos}
  COMMAND ${PROTOC} --descriptor_set_in=${FAIRLEAD_DESCRIPTORS}/generate.binpb --grpc_out=${FAIRLEAD_GEN}
    --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${stub_protos}
  DEPENDS ${FAIRLEAD_DESCRIPTORS}/generate.binpb ${FAIRLEAD_DESCRIPTORS}/generated.txt ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Generating C++ for the Envoy and Istio APIs"
  VERBATIM)
add_custom_target(fairlead_gen_headers DEPENDS ${headers} ${stub_headers})

# -O1 and no debug info in every build: these are large, never stepped into, and then come from the cache for all presets.
function(fairlead_generated_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} SYSTEM PUBLIC ${FAIRLEAD_GEN})
  target_compile_options(${name} PRIVATE -w -O1 -g0 -DNDEBUG)
  add_dependencies(${name} fairlead_gen_headers)
endfunction()

# Several of them at a time, as most of the work is to read each other's headers: half the time. The names that each of them defines for itself
# are told apart. Sources are named as headers are, so that all presets find them in the cache.
set(batch_size 8)
set(batches)
list(TRANSFORM protos REPLACE "\\.proto$" ".pb.cc" OUTPUT_VARIABLE included)
while(included)
  list(LENGTH batches number)
  set(batch ${CMAKE_BINARY_DIR}/proto_batches/batch_${number}.cc)
  set(text)
  foreach(place RANGE 1 ${batch_size})
    list(POP_FRONT included source)
    if(source)
      string(APPEND text "#define schemas schemas_${place}\n#define file_default_instances file_default_instances_${place}\n"
        "#include \"${source}\"\n#undef schemas\n#undef file_default_instances\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${batch} CONTENT "${text}" @ONLY)
  list(APPEND batches ${batch})
endwhile()
fairlead_generated_library(fairlead_protos ${batches})
target_link_libraries(fairlead_protos PUBLIC protobuf::libprotobuf Threads::Threads)
target_include_directories(fairlead_protos PRIVATE ${CMAKE_SOURCE_DIR}/cmake)
target_precompile_headers(fairlead_protos PRIVATE <pch/protobuf.h>)
fairlead_pch_checksum(fairlead_protos ${CMAKE_SOURCE_DIR}/cmake/pch/protobuf.h)
fairlead_generated_library(fairlead_stubs ${stub_sources})
target_link_libraries(fairlead_stubs PUBLIC fairlead_protos gRPC::grpc++)
