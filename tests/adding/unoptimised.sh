#!/bin/sh
# unoptimised.sh COMPILER ARGUMENT...: that compilation without optimisation, for the compiler cache to put in front of what it does not have. Clang
# is told to take the precompiled headers although they were made for -O2, which matters to no declaration.
case $1 in
  *clang*) exec "$@" -O0 -U_FORTIFY_SOURCE -Xclang -fno-validate-pch ;;
  *) exec "$@" -O0 -U_FORTIFY_SOURCE ;;
esac
