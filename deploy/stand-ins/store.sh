#!/bin/sh
# As the public image: `server` has defaults, all other words are weed's own.
case "$1" in
  server) shift; exec weed -logtostderr=true server -dir=/data -volume.max=0 -master.volumePreallocate -master.volumeSizeLimitMB=1024 "$@" ;;
  *) exec weed "$@" ;;
esac
