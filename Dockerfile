# Build: docker build --build-arg RELEASE=v1.2.3 -t sluice .
# Run:   docker run -p 3307:3307 -v sluice:/var/lib/sluice \
#          -e SLUICE_BACKEND=mysql://sluice@db:3306/ -e SLUICE_BACKEND_PASSWORD sluice

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG RELEASE=""
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.release=${RELEASE}" -o /out/sluice . \
 && mkdir -p /out/var/lib/sluice

FROM scratch
COPY --from=build /out/sluice /sluice
# The journal belongs to the user who writes it, in a new volume too.
COPY --from=build --chown=65532:65532 /out/var/lib/sluice /var/lib/sluice
USER 65532:65532
# Clients and probes come from outside of the container.
ENV SLUICE_LISTEN=:3307 \
    SLUICE_HTTP=:9307 \
    SLUICE_DATA_DIR=/var/lib/sluice \
    SLUICE_LOG_FORMAT=json
VOLUME /var/lib/sluice
EXPOSE 3307 9307
# serve drains on SIGTERM for up to drain.timeout (30s): allow it that long,
# docker stop --time 40.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/sluice"]
CMD ["serve"]
