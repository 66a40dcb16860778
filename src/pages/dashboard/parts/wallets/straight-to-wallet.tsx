import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { Notice } from '../../../ui/messages/notice.js'
import { ScreenLink } from '../screen-link.js'

/** Says that new crypto tips go to the creator's own wallet, so no bank pays them out. */
export function StraightToWallet(): JSX.Element {
  return (
    <Notice tone="plain" icon="wallet">
      {words.straightToWallet} <ScreenLink to="settings">{words.screens.settings}</ScreenLink>
    </Notice>
  )
}
