export type {
  Info,
  JsonSchema,
  OpenApiDocument,
  OpenApiResponse,
  Operation,
  Paths,
  ReadOperation,
  SecurityScheme,
  Server,
  Webhooks,
} from './document.ts'
export { type OpenApiOptions, openapi } from './openapi.ts'
