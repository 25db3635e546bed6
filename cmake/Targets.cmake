# How folders become targets. A folder's CMakeLists.txt is one call:
#
#   fairlead_folder(model DEPS base config)
#
# makes the library fairlead_model from every *.cc below the folder, the test program model_test from its *_test.cc and
# the benchmark program model_bench from its *_bench.cc. New files need no edit: the globs are checked at each build. Sources
# are compiled a few at a time (scripts/batches.py), as half of what one takes is its headers'; the asan preset compiles each alone.
#
#   DEPS       our own folders (base, proto, gen_cluster, ...) and imported targets (gRPC::grpc++, ...); linked PRIVATE
#   TEST_DEPS  more of the same for the tests and benchmarks alone
#   PCH        light (the default: standard library, abseil), envoy (and the big Envoy and Istio headers) or none
#   DIR        a sub-folder to take instead of the whole folder
#   EXCLUDE    sub-folders that are targets of their own

# Precompiled headers, built once and used by every target with the same flags. They are named in <>, or CMake would write
# the checkout's path into them and no two checkouts could share what the cache has.
#   fairlead_pch(NAME HEADER...): the first is precompiled, the rest are what its content depends on besides Debian's headers
function(fairlead_pch name header)
  set(source ${CMAKE_BINARY_DIR}/pch/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Carries the precompiled header of ${name}.\n")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE fairlead_flags)
  target_precompile_headers(${name} PRIVATE <pch/${header}>)
  add_dependencies(${name} fairlead_gen_headers)
  set(parts ${header} ${ARGN})
  list(TRANSFORM parts PREPEND ${CMAKE_SOURCE_DIR}/cmake/pch/ REGEX "^[^/]")
  fairlead_pch_checksum(${name} ${parts})
endfunction()

target_include_directories(fairlead_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/cmake)
target_include_directories(fairlead_flags SYSTEM INTERFACE ${FAIRLEAD_GEN})
fairlead_pch(fairlead_pch_light light.h)
fairlead_pch(fairlead_pch_envoy envoy.h light.h ${FAIRLEAD_DESCRIPTORS}/generate.binpb)
fairlead_pch(fairlead_pch_test test.h light.h)
# A macro that a precompiled header looks at must be the same for all its users.
target_link_libraries(fairlead_pch_test PRIVATE GTest::gmock GTest::gtest)

# An option of the linker makes nobody wait for the file: the headers do, that everything waits for.
if(TARGET fairlead_tsan)
  add_dependencies(fairlead_gen_headers fairlead_tsan)
endif()

add_custom_target(benches)
add_custom_target(tests)

# Names of our folders become their targets; everything else is taken as it stands.
function(fairlead_targets out)
  set(targets "")
  foreach(dep IN LISTS ARGN)
    if(dep MATCHES "::" OR dep MATCHES "^fairlead_")
      list(APPEND targets ${dep})
    elseif(dep STREQUAL "proto")
      list(APPEND targets fairlead_proto fairlead_protos)
    else()
      list(APPEND targets fairlead_${dep})
    endif()
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

function(fairlead_compile target pch)
  target_link_libraries(${target} PRIVATE fairlead_flags)
  add_dependencies(${target} fairlead_gen_headers)
  if(NOT pch STREQUAL "none")
    target_precompile_headers(${target} REUSE_FROM fairlead_pch_${pch})
  endif()
endfunction()

# fairlead_library(NAME SOURCES... DEPS... [PCH ...]): the library fairlead_NAME. No sources yet is no error.
function(fairlead_library name)
  cmake_parse_arguments(arg "" "PCH" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_PCH)
    set(arg_PCH light)
  endif()
  fairlead_targets(deps ${arg_DEPS})
  if(arg_SOURCES)
    add_library(fairlead_${name} STATIC ${arg_SOURCES})
    fairlead_compile(fairlead_${name} ${arg_PCH})
    target_link_libraries(fairlead_${name} PRIVATE ${deps})
  else()
    add_library(fairlead_${name} INTERFACE)
    target_link_libraries(fairlead_${name} INTERFACE ${deps})
  endif()
endfunction()

# fairlead_test(NAME SOURCES... DEPS...): the GoogleTest program NAME and one ctest entry of that name, run with the
# checkout's root as working directory. An entry a program: a process a test would cost more than most tests do.
function(fairlead_test name)
  cmake_parse_arguments(arg "" "PCH;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_PCH OR arg_PCH STREQUAL "light")
    set(arg_PCH test)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  fairlead_targets(deps ${arg_DEPS})
  add_executable(${name} ${arg_SOURCES})
  fairlead_compile(${name} ${arg_PCH})
  target_link_libraries(${name} PRIVATE ${deps} GTest::gmock GTest::gtest GTest::gtest_main)
  add_dependencies(tests ${name})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()

function(fairlead_bench name)
  cmake_parse_arguments(arg "" "PCH" "SOURCES;DEPS" ${ARGN})
  fairlead_targets(deps ${arg_DEPS})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  fairlead_compile(${name} ${arg_PCH})
  target_link_libraries(${name} PRIVATE ${deps} benchmark::benchmark benchmark::benchmark_main)
  add_dependencies(benches ${name})
endfunction()

option(FAIRLEAD_BATCHES "Compile a folder's sources a few at a time" ON)
add_custom_target(batches)
# fairlead_batches(OUT NAME SOURCES...): the files to compile in place of the sources of the target NAME.
function(fairlead_batches out name)
  list(LENGTH ARGN size)
  if(NOT FAIRLEAD_BATCHES OR size LESS 2)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(script ${CMAKE_SOURCE_DIR}/scripts/batches.py)
  set(root ${CMAKE_SOURCE_DIR}/src)
  execute_process(COMMAND ${PYTHON3} -B ${script} --count ${root} ${ARGN}
    OUTPUT_VARIABLE count OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_batches)
  math(EXPR last "${count} - 1")
  set(files)
  foreach(number RANGE ${last})
    list(APPEND files ${folder}/batch_${number}.cc)
  endforeach()
  add_custom_command(OUTPUT ${files} COMMAND ${PYTHON3} -B ${script} --write ${folder} ${count} ${root} ${ARGN}
    DEPENDS ${ARGN} ${script} COMMENT "Batches of ${name}" VERBATIM)
  add_custom_target(${name}_batches DEPENDS ${files})
  add_dependencies(batches ${name}_batches)
  set(${out} ${files} PARENT_SCOPE)
endfunction()

function(fairlead_folder name)
  cmake_parse_arguments(arg "" "PCH;DIR" "DEPS;TEST_DEPS;EXCLUDE" ${ARGN})
  if(NOT arg_PCH)
    set(arg_PCH light)
  endif()
  cmake_path(APPEND CMAKE_CURRENT_SOURCE_DIR "${arg_DIR}" OUTPUT_VARIABLE dir)
  string(REGEX REPLACE "/$" "" dir ${dir})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  foreach(excluded IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${excluded}/")
  endforeach()
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")

  fairlead_batches(sources ${name} ${sources})
  fairlead_library(${name} SOURCES ${sources} DEPS ${arg_DEPS} PCH ${arg_PCH})
  set(deps ${name} ${arg_DEPS} ${arg_TEST_DEPS})
  if(tests)
    fairlead_batches(tests ${name}_test ${tests})
    fairlead_test(${name}_test SOURCES ${tests} DEPS ${deps} PCH ${arg_PCH})
  endif()
  if(benches)
    fairlead_bench(${name}_bench SOURCES ${benches} DEPS ${deps} PCH ${arg_PCH})
  endif()
endfunction()

# Puts a file's bytes into a library: extern "C" const char fairlead_NAME_begin[], fairlead_NAME_end[].
function(fairlead_embed target name file)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embed_${name}.S)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
    .section .rodata
    .global fairlead_@name@_begin
    .global fairlead_@name@_end
    .balign 16
fairlead_@name@_begin:
    .incbin "@file@"
fairlead_@name@_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
]])
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${source})
endfunction()
