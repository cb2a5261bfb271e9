# Stands in for python:3.12-slim-bookworm where no registry is reached: Debian's own Python 3.11.
ARG BASE
FROM ${BASE}
COPY certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN rm -f /usr/lib/python3*/EXTERNALLY-MANAGED && ln -s python3 /usr/bin/python
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
