import type { DomainRegistrationElement, DomainRegistrationProps } from 'domain-registration/element'
import type { DetailedHTMLProps, HTMLAttributes } from 'react'

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'domain-registration': DetailedHTMLProps<HTMLAttributes<DomainRegistrationElement>, DomainRegistrationElement> &
        DomainRegistrationProps
    }
  }
}
