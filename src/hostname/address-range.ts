/** Notations for several addresses at once. */
export const ranges: readonly { readonly pattern: RegExp; readonly problem: string }[] = [
  {
    pattern: /^(?:\d+(?:\.\d+)*|\[?[\da-f.]*:[\da-f:.]*(?:%[^/]*)?\]?)\/[\d.]+$/i,
    problem: 'is a prefix, which stands for a range of IP addresses; send each as an entry of its own',
  },
  // `8.8.8.1-10`, `8.8.8-9.0-255`, `8.8.8.*`, `8.8.8.1 - 8.8.8.10`
  {
    pattern: /^(?=.*[*x\u2013-])\d+(?:-\d+)?(?:\.(?:\d+(?:-\d+)?|[*x])){3}(?:\s*[-\u2013]\s*[\d.]+)?$/i,
    problem: 'is a range of IP addresses; send each as an entry of its own',
  },
  {
    pattern: /^[\da-f]*:[\da-f:]*\s*[-\u2013]\s*[\da-f]*:[\da-f:]*$/i,
    problem: 'is a range of IP addresses; send each as an entry of its own',
  },
]

/** Describes a text that is a range of addresses, for its message. */
export function describeAddressRange(text: string): string | undefined {
  return /^\d|:/.test(text) ? ranges.find(({ pattern }) => pattern.test(text))?.problem : undefined
}
