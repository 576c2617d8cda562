# A worker, and every other command of `longhaul`: `docker run longhaul list`.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY tools tools
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:20.20.2-bookworm-slim
# Temporal's native client looks for the system's certificates.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/longhaul
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/lib lib
# A new volume takes its owner from here.
RUN mkdir /srv/archive /srv/inputs && chown node:node /srv/archive /srv/inputs
USER node
ENTRYPOINT ["node", "lib/cli.js"]
CMD ["worker"]
