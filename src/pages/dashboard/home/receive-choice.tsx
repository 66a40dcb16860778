import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Dialog } from '../../ui/messages/dialog.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import { useSubmit } from '../use-submit.js'

const ways = ['usdc', 'sent'] as const
type Way = (typeof ways)[number]

/** Asks a new creator what tips arrive as, because only USDC can be withdrawn to a bank. */
export function ReceiveChoice({
  onClose,
  onSaved,
}: {
  readonly onClose: () => void
  readonly onSaved: () => void
}): JSX.Element {
  const [way, setWay] = useState<Way>('usdc')
  const save = useSubmit(async () => {
    await call('PATCH', '/creators/me', { body: { settings: { autoConvertUsdc: way === 'usdc' } } })
    onSaved()
  })
  return (
    <Dialog title={words.receive.title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          save.run()
        }}
      >
        <RadioGroup
          name="receive"
          legend={words.receive.title}
          choices={ways}
          texts={words.receive.ways}
          chosen={way}
          onChoose={setWay}
        />
        <p class="quiet">{words.receive.effects[way]}</p>
        <FaultNotice fault={save.fault} />
        <Button kind="primary" type="submit" busy={save.busy}>
          {words.receive.save}
        </Button>
        <Button onPress={onClose}>{words.receive.later}</Button>
      </form>
    </Dialog>
  )
}
