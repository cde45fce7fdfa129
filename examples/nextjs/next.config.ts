import type { NextConfig } from 'next'

// Otherwise, Next.js redirects /v1/domains/, which many clients do not follow for a POST.
export default { skipTrailingSlashRedirect: true } satisfies NextConfig
