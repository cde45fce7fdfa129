/**
 * The part of the package that is used: the package has no types. `import 'punycode'` would import Node's own module
 * instead, which is deprecated. Jest cannot load the package's `punycode.es6.js`.
 */
declare module 'punycode/punycode.js' {
  const punycode: {
    /** @throws {RangeError} */
    decode(text: string): string
    encode(text: string): string
  }
  export = punycode
}
