import type { JSX } from 'preact'
import { explorerUrl } from '../../lib/explorer.js'
import { LinkButton } from '../../ui/button.js'
import { Icon } from '../../ui/icon.js'

/** A transaction where anybody can look at it. */
export function explorerLink(signature: string, text: string): JSX.Element {
  return (
    <LinkButton href={explorerUrl(signature)} newTab>
      {text} <Icon name="out" />
    </LinkButton>
  )
}
