/**
 * Names that examples use without declaring them. Names from installed packages have the types of these packages.
 * `tsconfig.json` excludes this file and its globals; `doc-comments.test.ts` checks the file.
 */
import type { RequestHandler } from 'express'
import type { FastifyBaseLogger } from 'fastify'
import type { DnsVerification } from '../../src/dns-verification/index.ts'
import type {
  Change,
  CheckNames,
  KeyContext,
  Registration,
  SettledName,
  Team,
  WaitingStore,
  Watched,
} from '../../src/index.ts'
import type { PostgresKeyStore, PostgresStore, PostgresStoreOptions } from '../../src/postgres/index.ts'
import type { StoreBackend } from '../../src/store/index.ts'
import type { domainStoreSuite, StoreSetup, SuiteStore } from '../../src/testing/index.ts'

type Answer = Response | Promise<Response>
type Handle = (request: Request) => Answer

declare global {
  // The application's own names.
  const app: import('express').Express
  const request: import('express').Request
  const pool: import('pg').Pool
  const database: import('pg').Pool
  const connectionString: string
  const log: FastifyBaseLogger
  const reply: (status: number, headers: Readonly<Record<string, string>>, body: object) => void

  const store: PostgresStore
  const otherStore: PostgresStore
  const keys: PostgresKeyStore
  const options: PostgresStoreOptions
  const teams: Team[]
  const myTeams: { find(id: string): Promise<Team | null> }
  const monitor: {
    apply(changes: readonly Change[]): Promise<void>
    listIds(): Promise<string[]>
    list(): AsyncIterable<Watched>
    watch(registration: Registration): Promise<void>
    forget(domainId: string): Promise<void>
  }
  const backend: StoreBackend

  const verification: DnsVerification
  const checkNames: CheckNames
  const waiting: WaitingStore
  const mailTo: (names: readonly SettledName[]) => Promise<void>
  const keyContext: KeyContext
  const domains: string[]
  const names: string[]
  const body: unknown
  const error: unknown
  const url: string
  const apiKey: string
  const token: string
  const getToken: () => Promise<string>

  const createMyStore: (setup: StoreSetup) => SuiteStore & { close(): Promise<void> }
  const createMyBackend: () => StoreBackend
  const cases: ReturnType<typeof domainStoreSuite>

  // Packages that are installed.
  const express: typeof import('express')
  const fastify: typeof import('fastify').fastify
  const swagger: typeof import('@fastify/swagger').default
  const Hono: typeof import('hono').Hono
  const pg: typeof import('pg')

  // Runtimes: only the parts that the examples use.
  const secret: string
  const passport: { session(): RequestHandler; authenticate(strategy: string, options: object): RequestHandler }
  namespace Express {
    interface Request {
      user?: { teamId: string }
    }
  }
  const Bun: { serve(options: { routes: Record<string, Handle> }): void }
  const Deno: { serve(handle: Handle): void }
  interface ExportedHandler {
    fetch(request: Request, env: unknown, context: { waitUntil(promise: Promise<unknown>): void }): Answer
  }
}
