# Tests are GoogleTest programs in <build>/tests, found by ctest when it runs.

find_package(GTest CONFIG REQUIRED)
find_package(rapidcheck CONFIG REQUIRED)
include(GoogleTest)

# Folders that tests read from and run programs of.
set(HOLDFAST_TEST_DEFINITIONS
    HOLDFAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    HOLDFAST_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")

# holdfast_test(<name> SOURCES <file>... [LIBS <target>...] [TIMEOUT <seconds>] [LABELS <label>...])
#
# TIMEOUT is for each test of the program, 120 if left out. The label `unit` if none is given:
# quick tests, which the sanitizer run takes.
function(holdfast_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()

  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_compile_definitions(${name} PRIVATE ${HOLDFAST_TEST_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest_main GTest::gmock)
  gtest_discover_tests(
    ${name}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
