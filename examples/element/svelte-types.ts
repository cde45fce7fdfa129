import type { DomainRegistrationProps } from 'domain-registration/element'
import type { HTMLAttributes } from 'svelte/elements'

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'domain-registration': HTMLAttributes<HTMLElement> & DomainRegistrationProps
  }
}
