/** Fastify 4 under a separate name; the parts that we use have the types of Fastify 5. */
declare module 'fastify4' {
  export { default } from 'fastify'
}
