/** Loaded with `--import`: a process then has the suffix list of an older release of `tldts`. */
import { register } from 'node:module'

const hook = `export const resolve = (name, context, next) => next(name === 'tldts' ? 'tldts-old' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
