/** Which engines besides Chromium are installed: as a program, prints those that are not, for the end of a CI run. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const findOne = paths => paths.find(path => existsSync(path))
export const firefox = findOne(['/usr/bin/firefox-esr', '/usr/bin/firefox'])
export const miniBrowser = findOne(
  ['6.0', '4.1', '4.0'].map(
    version =>
      `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/webkit2gtk-${version}/MiniBrowser`,
  ),
)
export const display = findOne(['/usr/bin/xvfb-run'])

const missing = [...(firefox ? [] : ['Firefox']), ...(miniBrowser && display ? [] : ['WebKit'])]
if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(missing.join(' and '))
