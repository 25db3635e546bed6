# The compiler's flags, the cache and the linker: the same for every preset.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
# Every object the same way (the compiler's default, PIE), or precompiled headers would not fit all.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers need the sloppiness; base_dir and no_hash_dir let checkouts in different folders share.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1
    CCACHE_PCH_EXTSUM=1
    CCACHE_INODECACHE=1
    CCACHE_MAXSIZE=10G
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${CCACHE})
endif()

# What ccache takes for the content of a target's precompiled header. GCC's differ from one making to the next and are 100 MB
# and more: hashed as files, they would miss in each checkout that made its own, and cost more than the compilation they
# save. What they are made from decides: the headers in cmake/pch, the generated code, Debian's packages, the compiler.
execute_process(
  COMMAND dpkg-query -W -f "\${Package} \${Version}\n"
    libabsl-dev libgmock-dev libgrpc++-dev libgtest-dev libprotobuf-dev libstdc++-12-dev libc6-dev
  OUTPUT_VARIABLE FAIRLEAD_PACKAGES ERROR_QUIET)
function(fairlead_pch_checksum target)
  set(content "${FAIRLEAD_PACKAGES}\n${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\n")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(GET file FILENAME name)
    file(SHA256 ${file} hash)
    string(APPEND content "${name} ${hash}\n")
  endforeach()
  foreach(suffix gch pch)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.${suffix}.sum CONTENT "${content}")
  endforeach()
endfunction()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--as-needed)

set(FAIRLEAD_SANITIZE "" CACHE STRING "Sanitizers for our own code, as -fsanitize= takes them")
if(FAIRLEAD_SANITIZE)
  add_link_options(-fsanitize=${FAIRLEAD_SANITIZE})
endif()

# Flags of our own code. Generated code is compiled without them and so is the same for every preset.
add_library(fairlead_flags INTERFACE)
set(FAIRLEAD_MODE -O0 -g1 CACHE STRING "Optimisation and debug information of our own code")
target_compile_options(fairlead_flags INTERFACE -Wall -Wextra -Werror ${FAIRLEAD_MODE})
# For all, not only for those whose dependencies ask: precompiled headers must see the same macros as their users.
target_compile_options(fairlead_flags INTERFACE -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(fairlead_flags INTERFACE -fpch-preprocess)
else()
  # Batches of sources name a warning that GCC alone has.
  target_compile_options(fairlead_flags INTERFACE -Wno-unknown-warning-option)
endif()
# GCC 12 sees overflows inside optimised std::string code that are not there (gcc.gnu.org/PR105651, PR105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND "${FAIRLEAD_MODE}" MATCHES "-O[23]")
  target_compile_options(fairlead_flags INTERFACE
    -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_flags INTERFACE
    -fsanitize=${FAIRLEAD_SANITIZE} -fno-sanitize-recover=all)
endif()
# What the thread sanitizer has to be told of Debian's libraries: an object in every program.
if(FAIRLEAD_SANITIZE STREQUAL "thread")
  add_library(fairlead_tsan OBJECT ${CMAKE_SOURCE_DIR}/cmake/sanitize/tsan.cc)
  target_compile_options(fairlead_tsan PRIVATE -O1 -g1 -fsanitize=thread)
  add_link_options($<TARGET_OBJECTS:fairlead_tsan>)
endif()
