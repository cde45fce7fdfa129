export {
  type Info,
  type OpenApiDocument,
  type OpenApiOptions,
  openapi,
  type SecurityScheme,
  type Server,
} from './openapi.ts'
export type { Operation, Paths, ReadOperation } from './operations.ts'
export type { Header, MediaType, OpenApiResponse } from './responses.ts'
export type { JsonSchema, Schemas } from './schemas.ts'
export type { Webhooks } from './webhooks.ts'
