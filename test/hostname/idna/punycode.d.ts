/** The part of the package that is used. Its bare name would import Node's deprecated module. */
declare module 'punycode/punycode.js' {
  const punycode: {
    /** @throws {RangeError} */
    decode(text: string): string
    encode(text: string): string
  }
  export = punycode
}
