import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Whether this user may mount file systems, also such that only one process sees them. */
export const canMount = (() => {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** The library of Debian's package `libfaketime`, which changes the clock of a process, if it is installed. */
export const faketime = existsSync('/usr/lib')
  ? readdirSync('/usr/lib')
      .map(folder => join('/usr/lib', folder, 'faketime/libfaketime.so.1'))
      .find(existsSync)
  : undefined
