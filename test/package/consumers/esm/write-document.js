import { writeFileSync } from 'node:fs'
import { openapi } from 'domain-registration/openapi'

writeFileSync('openapi.json', JSON.stringify(openapi()))
