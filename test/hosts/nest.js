import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createMemoryKeyStore, createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'

export const keys = createMemoryKeyStore()
const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })

/** In TypeScript: `@Module({}) class AppModule implements NestModule`. */
class AppModule {
  configure(consumer) {
    const [handleRequest] = domainsRouter({ store, keys })
    consumer.apply(handleRequest).forRoutes('/')
  }
}
Module({})(AppModule)

export const createApp = () => NestFactory.create(AppModule, { logger: false })
