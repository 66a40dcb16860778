import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/checkout.js'

const stillMs = 4000
const slowMs = 12_000

/** A spinner that shows an explanation when it takes long. Only for steps in which no money can have moved. */
export function Working({ text }: { readonly text: string }): JSX.Element {
  const [explanation, explain] = useState('')
  useEffect(() => {
    const timers = [
      setTimeout(() => explain(words.stillWorking), stillMs),
      setTimeout(() => explain(words.slow), slowMs),
    ]
    return () => timers.forEach(clearTimeout)
  }, [])
  return (
    <div class="working">
      <span class="spinner" aria-hidden="true" />
      <span>{text}</span>
      <p class="quiet" role="status">
        {explanation}
      </p>
    </div>
  )
}
