import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/button.js'
import { CopyButton } from '../../ui/copy-button.js'
import { Dialog } from '../../ui/dialog.js'
import { Notice } from '../../ui/notice.js'
import type { NewApiKey } from '../answers.js'

/** A key, for the only time it is ever shown; Escape does not close it. */
export function NewKeyDialog({
  made,
  onStored,
}: {
  readonly made: NewApiKey
  readonly onStored: () => void
}): JSX.Element {
  return (
    <Dialog title={words.newKey.title}>
      <Notice tone="warn" icon="warn">
        {words.newKey.once}
      </Notice>
      <code class="secret">{made.apiKey}</code>
      <CopyButton value={made.apiKey} label={words.newKey.key} />
      <Button kind="primary" onPress={onStored}>
        {words.newKey.stored}
      </Button>
    </Dialog>
  )
}
