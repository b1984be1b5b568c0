# How everything is compiled: build types, ccache, sanitizers.

set(HOLDFAST_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them")

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

# -O2: at -O3 g++ 12 warns falsely (-Wrestrict) on string concatenation. -g1 keeps function names
# and lines for backtraces. NDEBUG is for libraries: our own invariants do not look at it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE_PROGRAM ccache)
  mark_as_advanced(CCACHE_PROGRAM)
  if(CCACHE_PROGRAM)
    set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  endif()
endif()

if(HOLDFAST_SANITIZE)
  # g++ 12 warns falsely of std::regex's own members where sanitizers are built in.
  add_compile_options(-Wno-maybe-uninitialized)
  # Fences are nothing that the thread sanitizer knows; what Asio uses them for it does without.
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  # An empty optional looked into, an index past the end: no sanitizer sees all of them.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  # vptr wants type information that Debian's RocksDB is built without.
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
endif()

# In a unity build sources are included, and g++ warns of them as if they were headers.
if(CMAKE_UNITY_BUILD)
  add_compile_options(-Wno-subobject-linkage)
endif()

# holdfast_compiled_apart(<source>...)
#
# Sources of the current folder whose short names in anonymous namespaces are others elsewhere in
# their target, where CMAKE_UNITY_BUILD compiles a target's sources together.
function(holdfast_compiled_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
