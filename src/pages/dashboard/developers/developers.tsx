import type { JSX } from 'preact'
import { Domains } from './domains.js'
import { Keys } from './keys.js'
import { Snippets } from './snippets.js'

/** What a creator's own site needs: a key for its backend, its domains, and code that works by copy and paste. */
export function Developers(): JSX.Element {
  return (
    <div class="columns">
      <Keys />
      <Domains />
      <Snippets />
    </div>
  )
}
