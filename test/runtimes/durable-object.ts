import { startWorkerd } from './workerd.ts'

/** Each variable of the environment becomes a binding of the same name. */
const toConfig = (environment: readonly string[]) => `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # The monitor of the test is on this machine.
    (name = "internet", network = (allow = ["private"])),
    # Its folder is given when it is started.
    (name = "disk", disk = (writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  durableObjectNamespaces = [(className = "Registry", uniqueKey = "registry", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "REGISTRY", durableObjectNamespace = "Registry"),
    ${environment.map(name => `(name = "${name}", fromEnvironment = "${name}"),`).join('\n    ')}
  ],
  compatibilityDate = "2026-10-01",
);
`

/** Starts a Worker with the Durable Object `Registry` in workerd. When the Worker stops, its database is deleted. */
export const startDurableObject = (script: string, environment: Readonly<Record<string, string>> = {}) =>
  startWorkerd({
    script: `sqlite/${script}`,
    config: toConfig(Object.keys(environment)),
    parameters: folder => [`--directory-path=disk=${folder}`],
    environment,
  })
