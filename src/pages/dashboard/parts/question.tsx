import type { JSX } from 'preact'
import { Button } from '../../ui/controls/button.js'
import { Dialog } from '../../ui/messages/dialog.js'
import { useSubmit } from '../use-submit.js'
import { FaultNotice } from './fault-notice.js'

/** Asks before something is done that the person may regret. */
export function Question({
  title,
  effect,
  yes,
  no,
  act,
  onClose,
  onDone,
}: {
  readonly title: string
  /** What happens after a yes. */
  readonly effect: string
  readonly yes: string
  readonly no: string
  readonly act: () => Promise<unknown>
  readonly onClose: () => void
  readonly onDone: () => void
}): JSX.Element {
  const doing = useSubmit(async () => {
    await act()
    onDone()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{effect}</p>
      <FaultNotice fault={doing.fault} />
      <Button kind="danger" busy={doing.busy} onPress={doing.run}>
        {yes}
      </Button>
      <Button onPress={onClose}>{no}</Button>
    </Dialog>
  )
}
