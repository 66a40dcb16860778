import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Tabs } from '../../ui/controls/tabs.js'
import { useSession } from '../session.js'

type Side = 'backend' | 'frontend' | 'events'

/** Code samples with the creator's own id. */
export function Snippets(): JSX.Element {
  const { me } = useSession()
  const [side, setSide] = useState<Side>('backend')
  const code = codeFor(side, me.id)
  return (
    <section class="card columns__wide" aria-labelledby="code-title">
      <h2 id="code-title">{words.code_.title}</h2>
      <p class="quiet">{words.code_.lead}</p>
      <Tabs
        label={words.code_.title}
        chosen={side}
        onChoose={setSide}
        tabs={(['backend', 'frontend', 'events'] as const).map((key) => ({
          key,
          label: words.code_.tabs[key],
        }))}
      />
      <div role="tabpanel" id={`panel-${side}`} aria-labelledby={`tab-${side}`} class="snippet">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre class="snippet__code" tabIndex={0}>
          <code>{code}</code>
        </pre>
        <CopyButton value={code} label={words.code_.code} />
      </div>
      <p>
        <a href="/docs">{words.code_.manual}</a> · <a href="/openapi.json">{words.code_.document}</a>
      </p>
    </section>
  )
}

function codeFor(side: Side, creatorId: string): string {
  const { origin } = location
  if (side === 'backend')
    return `// On your server. The key never goes to a browser.
const answer = await fetch('${origin}/sdk/init', {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.TIPS_API_KEY}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    creatorId: '${creatorId}',
    originUrl: 'https://example.com', // the page that shows the checkout
  }),
})
const { config } = await answer.json()
// Give config.embedUrl to your page.`
  if (side === 'frontend')
    return `<!-- In your page; embedUrl is what your server got. -->
<iframe title="Tip" src="EMBED_URL" allow="clipboard-write"
  style="width:100%;max-width:480px;height:640px;border:0"></iframe>`
  return `// On your server, every 30 to 60 seconds: what was confirmed since the last look.
const answer = await fetch(
  '${origin}/sdk/events?creatorId=${creatorId}&since=' + encodeURIComponent(lastSeen),
  { headers: { authorization: \`Bearer \${process.env.TIPS_API_KEY}\` } },
)
const { events } = await answer.json() // newest first`
}
