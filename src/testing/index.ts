export { domainStoreSuite, type StoreSuiteOptions } from './domain-store-suite.ts'
export { type MonitorSuiteOptions, type MonitorUnderTest, monitorSuite } from './monitor-suite.ts'
export type { StoreCase } from './store-case.ts'
export { managedStoreFeatures, type StoreFeature, type StoreSetup, type SuiteStore } from './suite-store.ts'
