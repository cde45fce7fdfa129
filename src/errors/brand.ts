/**
 * Creates a brand for the errors of one class. The brand recognizes them even if they are from another copy of this
 * package, as `instanceof` does not: a process may load the package both as an ES module and as CommonJS. An
 * application's own class may have the same name, so names do not tell.
 */
/* @__NO_SIDE_EFFECTS__ */
export function createBrand<Branded extends Error>(className: string) {
  const brand = Symbol.for(`domain-registration.${className}`)
  return {
    /** Brands an error, in the constructor of its class. Nothing that prints errors shows it. */
    put(error: Branded): void {
      Object.defineProperty(error, brand, { value: true })
    },
    isOn(value: unknown): value is Branded {
      try {
        return typeof value === 'object' && value !== null && brand in value
      } catch {
        return false // A revoked proxy throws at any access.
      }
    },
  }
}
