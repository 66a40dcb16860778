import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Dialog } from '../../ui/messages/dialog.js'
import { Notice } from '../../ui/messages/notice.js'
import type { NewApiKey } from '../answers.js'
import { useLeaveQuestion } from '../route.js'

/** Shows a new key. It is never shown again, so Escape does not close the dialog. */
export function NewKeyDialog({
  made,
  onStored,
}: {
  readonly made: NewApiKey
  readonly onStored: () => void
}): JSX.Element {
  useLeaveQuestion(true, words.newKey.leave)
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
