export { default, Registry } from '../../../examples/durable-object.mjs'
