# The project as an image: webserver and daemon for the project mounted at /project.
#   docker build -t repro-pipeline .
#   docker run -p 127.0.0.1:3000:3000 -v "$PWD/reproduction:/project" \
#     --security-opt seccomp=unconfined --security-opt apparmor=unconfined repro-pipeline
# The two options let bubblewrap make its namespaces inside the container; without them every
# experiment is refused with a sentence, none runs unprotected.
FROM python:3.12-slim-bookworm

RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap util-linux \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 repro

WORKDIR /app
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY repro_pipeline repro_pipeline
COPY assets assets
COPY resources resources
RUN pip install --no-cache-dir --no-deps .

USER repro
WORKDIR /project
ENV REPRO_PROJECT=/project DAGSTER_DISABLE_TELEMETRY=1
EXPOSE 3000
ENTRYPOINT ["repro"]
CMD ["ui", "--host", "0.0.0.0"]
