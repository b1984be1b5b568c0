# holdfast_capnp(<target> <schema>...)
#
# Compiles Cap'n Proto schemas of the current folder into <target>. The header of api/x.capnp is
# included as "api/x.capnp.h".
function(holdfast_capnp target)
  set(CAPNPC_SRC_PREFIX "${PROJECT_SOURCE_DIR}")
  set(CAPNPC_OUTPUT_DIR "${PROJECT_BINARY_DIR}/generated")
  set(CAPNPC_IMPORT_DIRS "${PROJECT_SOURCE_DIR}")
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  file(MAKE_DIRECTORY "${CAPNPC_OUTPUT_DIR}/${folder}")
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  capnp_generate_cpp(sources headers ${ARGN})
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-w")
  target_sources(${target} PRIVATE ${sources} ${headers})
  target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${CAPNPC_OUTPUT_DIR}>")
  target_link_libraries(${target} PUBLIC CapnProto::capnp)
endfunction()
