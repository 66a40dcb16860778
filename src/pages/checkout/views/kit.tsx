import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/checkout.js'
import { explorerUrl } from '../../lib/solana.js'
import { Button, Icon, type IconName, LinkButton, Notice } from '../../ui/kit.js'
import type { Event } from '../machine/events.js'
import type { State, StepName, StepOf, WalletChoice } from '../machine/state.js'

export interface ViewOf<At extends StepName> {
  readonly state: State
  readonly step: StepOf<At>
}

export const Dispatching = createContext<(event: Event) => void>(() => undefined)

type ButtonProps = Omit<Parameters<typeof Button>[0], 'onPress' | 'type'>

function Press({ event, ...button }: ButtonProps & { readonly event: Event }) {
  const dispatch = useContext(Dispatching)
  return <Button {...button} onPress={() => dispatch(event)} />
}

export function press(
  text: ComponentChildren,
  event: Event,
  kind: NonNullable<ButtonProps['kind']> = 'plain',
  busy = false,
) {
  return <Press event={event} kind={kind} busy={busy} text={text} />
}

// Elements, not texts: the language is known when they are shown.
const Retry = () => press(words.tryAgain, { type: 'retried' }, 'primary')
export const retry = <Retry />
const Back = () => press(words.back, { type: 'start-over' }, 'quiet')
/** Returns to the form, which keeps its values. */
export const back = <Back />

/** The heading of a step. It gets the focus when the step appears, so that screen readers continue there. */
export function Heading({ children }: { readonly children: ComponentChildren }) {
  return (
    <h2 tabIndex={-1} data-heading>
      {children}
    </h2>
  )
}

export function Actions({ children }: { readonly children: ComponentChildren }) {
  return <div class="stack">{children}</div>
}

const icons = { plain: 'wait', good: 'tick', warn: 'warn', bad: 'cross' } as const

interface OutcomeText {
  readonly tone?: keyof typeof icons
  readonly icon?: IconName
  readonly title: string
  readonly more?: ComponentChildren
  readonly children?: ComponentChildren
  readonly actions?: readonly ComponentChildren[]
}

/** A result: a title, an explanation and the possible actions. A warning is read immediately, because the supporter has to act. */
export function Outcome(outcome: OutcomeText) {
  const { tone = 'warn', icon = icons[tone], title, more, children, actions } = outcome
  const urgent = tone === 'warn' || tone === 'bad'
  return (
    <section class={`stack outcome outcome--${tone}`}>
      <span class="outcome__icon">
        <Icon name={icon} size={28} />
      </span>
      <div class="outcome__text" {...(urgent && { role: 'alert' })}>
        <Heading>{title}</Heading>
        {more && <p>{more}</p>}
      </div>
      {children}
      {actions?.some(Boolean) && <Actions>{actions}</Actions>}
    </section>
  )
}

const stillMs = 3000
const slowMs = 12_000

/** A spinner that shows an explanation when it takes long. Only for steps in which no money can have moved. */
export function Working({
  text,
  slowAfterMs = slowMs,
}: {
  readonly text: string
  readonly slowAfterMs?: number
}) {
  const [explanation, explain] = useState('')
  useEffect(() => {
    const timers = [
      setTimeout(() => explain(words.stillWorking), stillMs),
      setTimeout(() => explain(words.slow), slowAfterMs),
    ]
    return () => timers.forEach(clearTimeout)
  }, [slowAfterMs])
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

export function spinning(text: string) {
  return (
    <p class="working">
      <span class="spinner" aria-hidden="true" />
      <span>{text}</span>
    </p>
  )
}

const Declined = () => (
  <Notice tone="warn" urgent>
    <strong>{words.declined}</strong> {words.nothingPaid}
  </Notice>
)
export const declinedNotice = <Declined />

export function WalletIcon(props: { readonly wallet: WalletChoice; readonly size: number }) {
  const { wallet, size } = props
  if (wallet.icon === '') return <Icon name="wallet" size={size} />
  return <img class="wallet__icon" src={wallet.icon} alt="" width={size} height={size} />
}

export function linkOut(text: string, href: string, kind: 'plain' | 'primary' = 'plain') {
  return (
    <LinkButton
      kind={kind}
      href={href}
      newTab
      text={
        <>
          {text} <Icon name="out" />
        </>
      }
    />
  )
}

/** A link to the transaction in a public explorer, if there is a transaction. */
export function explorerLink(signature: string | null, text: string) {
  return signature !== null && linkOut(text, explorerUrl(signature))
}

/** The page of a payment, which stays when this one is closed. */
export function statusLink(url: string | undefined) {
  return url !== undefined && linkOut(words.viewStatus, url)
}

/** Returns to the form with its naira tab, where the creator takes naira. */
export function payInNaira({ session }: State, icon?: JSX.Element) {
  const text = (
    <>
      {icon} {words.payInNaira}
    </>
  )
  return session?.fiat.enabled === true && press(text, { type: 'start-over', method: 'naira' })
}
