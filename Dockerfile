# A worker, and every other command of `longhaul`: `docker run longhaul list`.
FROM node:24.21.0-bookworm-slim AS sources
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY tools tools
COPY src src

FROM sources AS build
COPY LICENSE ./
COPY packages packages
COPY report-page report-page
RUN npm run build -- worker && npm prune --omit=dev
# Temporal's native library is installed for five platforms, 108 MB of which this one is not.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

# The storage of the reference service: `tools/README.md` says why this version.
FROM golang:1.26.8-bookworm AS storage
WORKDIR /s3
COPY --from=sources /build/tools/s3 ./
RUN CGO_ENABLED=0 go build -mod=readonly -buildvcs=false -trimpath -ldflags='-s -w -X main.Version=v1.8.0' \
  -o /versitygw github.com/versity/versitygw/cmd/versitygw

# The profile `demo` of docker-compose.yml: the service of the specification.
FROM sources AS demo
COPY reference-service reference-service
COPY --from=storage /versitygw /usr/local/bin/versitygw
USER 1000:1000
ENTRYPOINT ["node", "--import", "tsx", "reference-service/main.ts"]

FROM node:24.21.0-bookworm-slim
# Temporal's native client looks for the system's certificates.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/longhaul
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/lib lib
# A new volume takes its owner from here.
RUN mkdir /srv/archive /srv/inputs && chown node:node /srv/archive /srv/inputs
USER 1000:1000
ENTRYPOINT ["node", "lib/cli.js"]
CMD ["worker"]
