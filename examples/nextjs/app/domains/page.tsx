'use client'

import 'domain-registration/element'
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

export default function Page() {
  return <domain-registration url="/v1/domains" />
}
