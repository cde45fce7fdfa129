using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "../node_modules/worker/worker.js")],
  bindings = [(name = "SETTINGS", fromEnvironment = "SETTINGS")],
  compatibilityDate = "2026-10-01",
);
