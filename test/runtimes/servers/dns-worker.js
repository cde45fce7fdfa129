import { createDnsVerification } from 'domain-registration/dns-verification'
import { createResolveTxt } from '../../../examples/dns-over-https.ts'

let verification

/** Verifies the names in the body. Without `RESOLVER`, there is none. */
export default {
  async fetch(request, { RESOLVER, SECRET }) {
    try {
      const resolveTxt = RESOLVER === 'none' ? undefined : createResolveTxt(RESOLVER)
      verification ??= createDnsVerification({ label: '_example-challenge', secret: SECRET, resolveTxt })
      return Response.json(await verification.verify('1', await request.json()))
    } catch (error) {
      return new Response(String(error), { status: 500 })
    }
  },
}
