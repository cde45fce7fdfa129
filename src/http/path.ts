/** Where an adapter that routes answers, below where the host mounts it. */
export interface PathOption {
  /** The path below where it is mounted. With and without a trailing slash. Default `/v1/domains`. */
  path?: string
}

export const toPath = ({ path = '/v1/domains' }: PathOption): string => withoutTrailingSlash(path)

export const withoutTrailingSlash = (path: string): string => path.replace(/\/$/, '')
