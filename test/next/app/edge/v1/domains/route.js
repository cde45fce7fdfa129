import { domainsHandler } from 'domain-registration/fetch'
import { options } from '../../../options.js'

export const runtime = 'edge'
export const POST = domainsHandler(options)
