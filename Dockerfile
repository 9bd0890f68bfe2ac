# A newer patch, or a digest: docker build --build-arg NODE=node:24.18.0-bookworm-slim@sha256:…
ARG NODE=node:24.18.0-bookworm-slim

FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run -s build && npm prune --omit=dev --ignore-scripts

FROM ${NODE}
WORKDIR /app
# Two malloc arenas: docs/decisions/0032-two-malloc-arenas.md
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=2
COPY --from=build /app/package.json /app/README.md /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/src/web/assets ./src/web/assets
COPY --from=build /app/graphql ./graphql
COPY --from=build /app/openapi ./openapi
COPY --from=build /app/ontology ./ontology
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
RUN install -d -o node -g node -m 0700 /data && ln -s /app/bin/arkgraph.js /usr/local/bin/arkgraph
USER node
VOLUME /data
EXPOSE 8080
# Every role answers /healthz on PORT.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As many of V8's threads as there are cores for: docs/decisions/0041-threads-by-cores.md
CMD ["node", "--v8-pool-size=0", "dist/server.js"]
