/**
 * Stands in for what Lit expects of a page while the module is imported on a server, where nothing is drawn. The build
 * puts these in place of the global names, in this module only.
 */
const { HTMLElement: PageElement, document: page } = globalThis

export const HTMLElement: typeof globalThis.HTMLElement = PageElement ?? (class {} as typeof globalThis.HTMLElement)
export const document: Document = page ?? ({ createTreeWalker: () => ({}) } as unknown as Document)
