import type { JSX } from 'preact'
import { Domains } from './domains.js'
import { Keys } from './keys.js'
import { Snippets } from './snippets.js'

/** What a creator needs for tips on their own site: API keys, domains and code samples. */
export function Developers(): JSX.Element {
  return (
    <div class="columns">
      <Keys />
      <Domains />
      <Snippets />
    </div>
  )
}
