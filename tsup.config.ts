import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    http: 'src/http/handler.ts',
    express: 'src/http/express.ts',
    fastify: 'src/http/fastify.ts',
    fetch: 'src/http/fetch.ts',
    openapi: 'src/openapi/openapi.ts',
    client: 'src/client/client.ts',
    postgres: 'src/postgres/index.ts',
    sqlite: 'src/sqlite/index.ts',
    testing: 'src/testing/domain-store-suite.ts',
  },
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'neutral',
  // Without splitting, each CommonJS entry point would get its own copy of ApiError.
  splitting: true,
  // Declarations are made by the compiler, one for each file, since those can have maps: npm run build:types.
  dts: false,
  clean: true,
  treeshake: true,
})
