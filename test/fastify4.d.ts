/** Fastify 4 under a name of its own; what we use of it has the types of Fastify 5. */
declare module 'fastify4' {
  export { default } from 'fastify'
}
