#!/usr/bin/env bash
# Prints a hash of all files of these folders: the same for the same contents, in any locale.
#
# usage: tests/sources.sh FOLDER...
find "$@" -type f ! -name '*.pyc' | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16
