import { domainsHandler } from 'domain-registration/fetch'
import { options } from '../../options.js'

export const POST = domainsHandler(options)
