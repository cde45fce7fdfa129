/** Express 4 under a separate name; the parts that we use have the types of Express 5. */
declare module 'express4' {
  export { default } from 'express'
}
