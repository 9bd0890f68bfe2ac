# The version that CI runs the whole suite on. To pin its digest: docker build --build-arg
# NODE=node:20.20.2-bookworm-slim@sha256:…
ARG NODE=node:20.20.2-bookworm-slim

FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm ci --ignore-scripts
COPY . .
# The image holds what the published package holds, and the packages that it installs.
RUN npm run -s build && npm pack --silent --ignore-scripts --pack-destination /tmp \
 && npm prune --omit=dev --ignore-scripts \
 && mkdir /package && tar -xzf /tmp/arkgraph-*.tgz -C /package --strip-components=1 --no-same-owner \
 && mv node_modules /package/

FROM ${NODE}
# docker build --build-arg REVISION=$(git rev-parse HEAD)
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Arkgraph" \
      org.opencontainers.image.description="A GraphQL-first knowledge-graph registry for research objects: RO-Crates in, JSON-LD records under ARK identifiers, provenance out, over GraphQL, REST and SPARQL." \
      org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/arkgraph/arkgraph" \
      org.opencontainers.image.revision="$REVISION"
WORKDIR /app
# Two malloc arenas: docs/decisions/0034-package-and-start.md
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=2
COPY --from=build /package ./
RUN install -d -o node -g node -m 0700 /data && ln -s /app/bin/arkgraph.js /usr/local/bin/arkgraph
USER node
VOLUME /data
EXPOSE 8080
# Every role answers /healthz on PORT.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As many of V8's threads as there are cores for: docs/decisions/0034-package-and-start.md
CMD ["node", "--v8-pool-size=0", "dist/src/app/main.js"]
