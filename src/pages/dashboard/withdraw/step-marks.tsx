import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import type { Flow } from './flow.js'

const steps = ['amount', 'bank', 'review', 'progress'] as const

/** The four steps, with the current one marked. */
export function StepMarks({ step }: { readonly step: Flow['step'] | 'progress' }): JSX.Element {
  const at = step === 'refused' ? 2 : Math.max(0, (steps as readonly string[]).indexOf(step))
  const current = step === 'sending' || step === 'checking' || step === 'accepted' ? 3 : at
  return (
    <ol class="marks">
      {steps.map((name, index) => (
        <li
          key={name}
          class={`marks__mark ${index < current ? 'marks__mark--done' : ''}`}
          aria-current={index === current ? 'step' : undefined}
        >
          {words.withdraw.steps[name]}
        </li>
      ))}
    </ol>
  )
}
