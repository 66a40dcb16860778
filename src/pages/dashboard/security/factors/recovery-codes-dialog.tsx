import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { saveFile } from '../../../lib/save-file.js'
import { Button } from '../../../ui/controls/button.js'
import { CopyButton } from '../../../ui/controls/copy-button.js'
import { Dialog } from '../../../ui/messages/dialog.js'
import { Notice } from '../../../ui/messages/notice.js'
import { useLeaveQuestion } from '../../route.js'
import { useSession } from '../../session.js'

/** Shows new recovery codes. They are never shown again, so Escape does not close the dialog. */
export function RecoveryCodesDialog({
  codes,
  onStored,
}: {
  readonly codes: readonly string[]
  readonly onStored: () => void
}): JSX.Element {
  const { me } = useSession()
  useLeaveQuestion(true, words.recovery.leave)
  const file = `${words.recovery.fileHead(location.host, me.email)}\n\n${codes.join('\n')}\n`
  return (
    <Dialog title={words.recovery.newTitle}>
      <Notice tone="warn" icon="warn">
        {words.recovery.once}
      </Notice>
      <ol class="secret recovery">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div class="row">
        <CopyButton value={codes.join('\n')} label={words.recovery.codes} named />
        <button
          type="button"
          class="copy"
          onClick={() => saveFile(words.recovery.fileName, file, 'text/plain')}
        >
          {words.recovery.download}
        </button>
      </div>
      <Button kind="primary" onPress={onStored}>
        {words.recovery.stored}
      </Button>
    </Dialog>
  )
}
