import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Mounts a separate file system of the given size. Returns its folder, or `undefined` if the current user may not mount
 * file systems.
 */
export function mountSmall(bytes: number): { folder: string; unmount(): void } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'domain-registration-full-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=777`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    remove()
    return undefined
  }
  return {
    folder,
    unmount() {
      execFileSync('umount', ['-l', folder])
      remove()
    },
  }
}

/** Fills the disk of this folder with one file. @returns The path of the file. */
export function fill(folder: string): string {
  const file = join(folder, 'filling')
  execFileSync('bash', ['-c', `cat /dev/zero > ${file} || true`], { stdio: 'ignore' })
  return file
}
