/** Metrics for Prometheus: the file that the whole service in `production/` uses too. */
export { watchStore, watchWaiting } from './production/prometheus.ts'
