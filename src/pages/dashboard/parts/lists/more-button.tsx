import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import type { FurtherPages } from '../../use-pages.js'
import { FaultNotice } from '../fault-notice.js'

/** Below a list: the button that reads the next page, and what went wrong with the last one. */
export function MoreButton({
  pages: { fault, next, busy, more },
}: {
  readonly pages: FurtherPages
}): JSX.Element {
  return (
    <>
      <FaultNotice fault={fault} tone="warn" />
      {next !== undefined && (
        <Button busy={busy} onPress={more}>
          {words.tips.more}
        </Button>
      )}
    </>
  )
}
