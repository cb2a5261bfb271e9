# One image for webserver, daemon, code location and launches: deploy/docker-compose.yaml uses it.
#   docker build -t repro-pipeline .
# For one machine it also serves a project by itself:
#   docker run --init -p 127.0.0.1:3000:3000 -v "$PWD/reproduction:/project" \
#     --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined \
#     repro-pipeline
# The options let bubblewrap make its namespaces inside the container; without them every
# experiment is refused with a sentence, none runs unprotected.
ARG BASE=python:3.12-slim-bookworm
FROM ${BASE}

# git reads authors' repositories; all else comes with the locked packages.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 repro

WORKDIR /app
COPY requirements-deploy.lock ./
# The lock names every package, so nothing is resolved: pip would refuse an extra (`gql[requests]`) as unpinned.
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements-deploy.lock
COPY pyproject.toml README.md LICENSE ./
COPY repro_pipeline repro_pipeline
COPY assets assets
COPY resources resources
RUN pip install --no-cache-dir --no-deps . \
 && install -d -o repro /project /var/lib/repro/slots

USER repro
WORKDIR /project
ENV REPRO_PROJECT=/project DAGSTER_DISABLE_TELEMETRY=1 LITELLM_LOCAL_MODEL_COST_MAP=True
EXPOSE 3000
# No ENTRYPOINT: Dagster's launchers, for containers as for Kubernetes, give whole commands.
CMD ["repro", "ui", "--host", "0.0.0.0"]
