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
  modules = [(name = "worker.js", esModule = embed "../node_modules/worker/alarm.js")],
  durableObjectNamespaces = [(className = "Registry", uniqueKey = "registry", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "REGISTRY", durableObjectNamespace = "Registry"),
    (name = "MONITOR_URL", fromEnvironment = "MONITOR_URL"),
    (name = "WEBHOOK_SECRET", fromEnvironment = "WEBHOOK_SECRET"),
  ],
  compatibilityDate = "2026-10-01",
);
