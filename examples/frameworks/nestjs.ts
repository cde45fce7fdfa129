// npm install domain-registration, in an application on Express
import 'reflect-metadata'
import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create'] }) as const

@Module({})
class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    const [handleRequest] = domainsRouter({ store, authenticate })
    consumer.apply(handleRequest).forRoutes('/')
  }
}

const app = await NestFactory.create(AppModule, { logger: false })
await app.listen(process.env.PORT ?? 3000)
console.log('POST /v1/domains') // POST /v1/domains
