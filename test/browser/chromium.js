import { accessSync, constants, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/**
 * Starts a Chromium that can reach only this machine.
 *
 * @param {string} directory The folder into which the Chromium from npm is unpacked.
 */
export async function launchChromium(directory) {
  return chromium.launch({
    executablePath: await findChromium(directory),
    headless: true,
    args: [
      '--no-sandbox', // Chromium's sandbox does not start as root
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost',
    ],
  })
}

/**
 * Finds a Chromium: the one in `CHROME_PATH`, the first on `PATH`, or the one that npm installed next to this file.
 *
 * @param {string} directory The folder into which the Chromium from npm is unpacked.
 * @returns {Promise<string>} The path of the executable.
 */
async function findChromium(directory) {
  return process.env.CHROME_PATH || findOnPath() || (await unpackFromNpm(directory))
}

function findOnPath() {
  const directories = (process.env.PATH ?? '').split(delimiter)
  return names.flatMap(name => directories.map(directory => join(directory, name))).find(isExecutable)
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function unpackFromNpm(directory) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `No Chromium was found, and npm has none for ${process.platform} on ${process.arch}: ` +
        'install Chromium or Chrome, and set CHROME_PATH to its executable',
    )
  }
  // The package unpacks Chromium into the system's temporary folder. A bare system lacks some libraries (NSS). The
  // package contains these libraries, but unpacks them and adds them to LD_LIBRARY_PATH only if it believes that it
  // runs in AWS Lambda.
  process.env.TMPDIR = directory
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs20.x'
  const { default: chromium } = await import('@sparticuz/chromium')
  const executable = await chromium.executablePath()

  // The package's font settings point to folders of AWS Lambda. Without any font, a page crashes.
  const fontSettings = join(directory, 'fonts.conf')
  writeFileSync(
    fontSettings,
    `<fontconfig><dir>${join(directory, 'fonts')}</dir>
      <cachedir>${join(directory, 'fonts-cache')}</cachedir></fontconfig>`,
  )
  process.env.FONTCONFIG_FILE = fontSettings
  return executable
}
