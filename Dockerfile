# syntax=docker/dockerfile:1
# The image of benchrun for docs/measuring.md: one static program on distroless. Two builds of one
# commit give the same program; with the base images by digest and SOURCE_DATE_EPOCH they give
# the same image:
#
#   docker buildx build --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
#     --build-arg GO_IMAGE=docker.io/library/golang:1.26@sha256:... \
#     --build-arg BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot@sha256:... \
#     --output type=image,name=registry.example/benchrun:v1,rewrite-timestamp=true,push=true .
ARG GO_IMAGE=docker.io/library/golang:1.26
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
# With .git: the go command stamps the commit into the program, and benchrun merge refuses
# shards of different commits.
COPY . .
ARG TARGETOS
ARG TARGETARCH
RUN git config --global --add safe.directory /src && \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH GOFLAGS=-mod=readonly \
    go build -trimpath -buildvcs=true -o /benchrun ./cmd/benchrun

FROM ${BASE_IMAGE}
COPY --from=build /benchrun /benchrun
ENTRYPOINT ["/benchrun"]
