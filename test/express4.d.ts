/** Express 4 under a name of its own; what we use of it has the types of Express 5. */
declare module 'express4' {
  export { default } from 'express'
}
