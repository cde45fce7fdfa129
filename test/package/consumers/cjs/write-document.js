const { writeFileSync } = require('node:fs')
const { openapi } = require('domain-registration/openapi')

writeFileSync('openapi.json', JSON.stringify(openapi()))
