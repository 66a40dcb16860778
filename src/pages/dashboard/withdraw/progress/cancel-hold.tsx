import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { usd } from '../../../lib/money.js'
import { Button } from '../../../ui/controls/button.js'
import type { Payout } from '../../answers.js'
import { call } from '../../api.js'
import { useDrawer } from '../../parts/drawer.js'
import { Question } from '../../parts/question.js'

const drawerName = 'cancel-withdrawal'

/** Cancels a withdrawal that is held, after a question. */
export function CancelHold({
  payout: { reference, amountUSDC },
  onCancelled,
}: {
  readonly payout: Payout
  readonly onCancelled: () => void
}): JSX.Element {
  const drawer = useDrawer()
  return (
    <>
      <Button kind="quiet" onPress={() => drawer.show(drawerName)}>
        {words.cancelling.open}
      </Button>
      {drawer.open === drawerName && (
        <Question
          title={words.cancelling.title}
          effect={words.cancelling.effect(usd(amountUSDC))}
          yes={words.cancelling.submit}
          no={words.cancelling.keep}
          act={() => call('POST', `/payouts/${encodeURIComponent(reference)}/cancel`, { body: {} })}
          onClose={drawer.close}
          onDone={() => {
            drawer.close()
            onCancelled()
          }}
        />
      )}
    </>
  )
}
