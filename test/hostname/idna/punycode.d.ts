/** The part of the package that is used. `import 'punycode'` would import Node's deprecated module instead. */
declare module 'punycode/punycode.js' {
  const punycode: {
    /** @throws {RangeError} */
    decode(text: string): string
    encode(text: string): string
  }
  export = punycode
}
