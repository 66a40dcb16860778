import type { ComponentChildren } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { CopyButton, Icon } from '../../ui/kit.js'
import { Card } from '../parts/cards.js'
import { ScreenLink } from '../parts/links.js'

const text = words.link

/** The address of the public page, to be given to supporters. `children`: in place of the way to the rest. */
export function YourLink({ url, children }: { readonly url: string; readonly children?: ComponentChildren }) {
  return (
    <Card name="link" title={text.title}>
      <p>
        <a class="strong" href={url} target="_blank" rel="noopener">
          {url.replace(/^https?:\/\//, '')}
        </a>
      </p>
      <div class="wrap">
        <CopyButton value={url} label={text.name} named />
        {/* Browsers on phones have the sheet with the person's own apps. */}
        {'share' in navigator && (
          <button type="button" class="copy" onClick={() => share(url)}>
            <Icon name="share" size={16} />
            {text.share}
          </button>
        )}
        {children ?? (
          <ScreenLink to="page" class="copy">
            {text.more}
          </ScreenLink>
        )}
      </div>
    </Card>
  )
}

/** Closing the sheet rejects. */
function share(url: string): void {
  navigator.share({ title: text.shared, url }).catch(() => undefined)
}
