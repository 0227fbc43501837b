# SPDX-License-Identifier: Apache-2.0
# Builds the page: cmake -D NPM=… -D SOURCE=… -D WORK=… -D OUTPUT=… -P page.cmake
#
# A failure is a warning, since all other tools work without the page; reportify then says what is missing, and its tests fail.
file(COPY "${SOURCE}/package.json" "${SOURCE}/package-lock.json" "${SOURCE}/src" DESTINATION "${WORK}")
# npm leaves this file beside what it installed. (What does not exist counts as newer.)
set(installed "${WORK}/node_modules/.package-lock.json")
set(failed 0)
if(NOT EXISTS "${installed}" OR NOT "${installed}" IS_NEWER_THAN "${SOURCE}/package-lock.json")
  execute_process(COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --loglevel=error WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE failed)
endif()
if(NOT failed)
  execute_process(
    COMMAND "${WORK}/node_modules/.bin/esbuild" src/main.js --bundle --minify --format=iife --target=es2022 --legal-comments=none --log-level=warning
      "--outfile=${OUTPUT}/reportify.js"
    WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE failed)
endif()
if(failed)
  message(WARNING "the page of reportify was not built (${failed}); reportify will not work")
  return()
endif()
set(licenses "reportify.js contains these libraries.\n")
foreach(library "@dagrejs/dagre" "@dagrejs/graphlib" "cytoscape")
  file(READ "${WORK}/node_modules/${library}/LICENSE" text)
  string(APPEND licenses "\n---- ${library}\n\n${text}")
endforeach()
file(WRITE "${OUTPUT}/LICENSES.txt" "${licenses}")
file(COPY "${SOURCE}/index.html" "${SOURCE}/reportify.css" DESTINATION "${OUTPUT}")
